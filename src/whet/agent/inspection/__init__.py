"""What commands leave in a folder for other programs to run: found, taken aside, asked about or reported."""
