"""Cases made, attempts carried out, trials judged."""
