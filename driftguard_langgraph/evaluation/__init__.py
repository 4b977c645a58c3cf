"""Measuring a guard on real traces before it is switched on."""
