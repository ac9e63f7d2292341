"""The report as one page of HTML: sections of blocks and pictures, and the templates that write them."""
