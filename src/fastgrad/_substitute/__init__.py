"""fastgrad in autograd's place: under its names are fastgrad's own modules, in this process and its children."""
