"""What holds over all rooms: layers, names, wrong calls, columns, problems."""
