"""Text as it is compared, labelled and checked."""
