"""The navigation of the site names every page of docs/ once, and nothing else; each page has one title, and its chart its figures.

    /usr/bin/python3 tests/docs/site_pages_test.py
"""

import re
import runpy
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "site"))
import pages


class SitePages(unittest.TestCase):
    def test_the_navigation_names_each_page_of_docs_once(self):
        named = [page for group in pages.navigation().values() for page in group if page.startswith("docs/")]
        self.assertEqual(sorted(named), pages.documents())

    def test_each_page_has_one_title(self):
        for page in pages.documents():
            text = "".join(pages.CODE.split(pages.read(page))[::2])
            self.assertEqual(len(re.findall(r"^# ", text, re.M)), 1, page)

    def test_the_chart_of_shares_has_the_figures_of_its_page(self):
        images = Path(pages.ROOT) / "docs" / "images"
        chart = runpy.run_path(str(images / "share.py"))["svg"]()
        self.assertEqual((images / "share.svg").read_text(encoding="utf-8"), chart)


if __name__ == "__main__":
    unittest.main()
