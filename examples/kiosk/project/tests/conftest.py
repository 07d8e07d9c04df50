import os
import sys

if os.environ.get("KIOSK") != "test":
    sys.exit("Use: ./dev test MODULE")
