"""What Whet keeps: sessions, their messages and the index that finds them."""
