"""Pure decisions: is it the same action, what does the evidence weigh, what follows."""
