# SPDX-License-Identifier: Apache-2.0
"""Makes one site of the documentation: the modules' archives, and the pages beside them.

    python site.py ARCHIVES SITE MODULE...

ARCHIVES holds MODULE.doccarchive for each module. SITE gets a folder for each module, a page for each of
PAGES, and an index.html that leads to all of them. It is static: any server can serve it.
"""
import html
import pathlib
import posixpath
import re
import subprocess
import sys

import markdown

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = {
    "README.md": ("index.html", "nearby"),
    "Sources/NearbyPython/README.md": ("python.html", "Python"),
    "Sources/NearbyPython/distributed.md": ("distributed.html", "Datasets on Ray and Dask"),
    "Sources/CNearby/README.md": ("c.html", "C and C++"),
    "Benchmarks/README.md": ("benchmarks.html", "Benchmarks"),
    "Datasets/README.md": ("datasets.html", "Datasets"),
}
STYLE = """
:root { color-scheme: light dark; font: 16px/1.55 system-ui, sans-serif; }
body { max-width: 52rem; margin: 0 auto; padding: 1rem 1.2rem 4rem; }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1rem; padding-bottom: .8rem; border-bottom: 1px solid #8886; font-size: .9rem; }
pre { overflow-x: auto; padding: .8rem; background: #8881; border-radius: 8px; } code { font-size: .9em; }
table { border-collapse: collapse; display: block; overflow-x: auto; } th, td { border: 1px solid #8884; padding: .3rem .6rem; text-align: left; }
img { max-width: 100%; border-radius: 8px; }
"""


def target(link, page, site):
    """The address in the site of what a page links; files of the repository that are no page are copied."""
    if re.match(r"[a-z]+:|#", link):
        return link
    path, _, anchor = link.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    if path in PAGES:
        return PAGES[path][0] + (f"#{anchor}" if anchor else "")
    if article := re.fullmatch(r"Sources/(\w+)/\1\.docc/(\w+)\.md", path):
        module, name = article.groups()
        tail = "" if name == module else f"/{name.lower()}"
        return f"{module}/documentation/{module.lower()}{tail}/"
    source = ROOT / path
    if source.is_file():
        copy = site / "files" / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(source.read_bytes())
        return f"files/{path}"
    if source.is_dir():
        return f"#{path}"
    raise SystemExit(f"{page}: {link} leads nowhere")


def write_page(page, site, modules):
    """Writes a page of the repository as HTML."""
    name, title = PAGES[page]
    text = (ROOT / page).read_text()
    text = re.sub(r"(\]\()([^)\s]+)(\))", lambda m: m[1] + target(m[2], page, site) + m[3], text)
    links = [f'<a href="{file}">{html.escape(label)}</a>' for file, label in PAGES.values()]
    links += [f'<a href="{m}/documentation/{m.lower()}/">{m}</a>' for m in modules]
    body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc"])
    (site / name).write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style><nav>{' '.join(links)}</nav><main>{body}</main></html>\n")


def main(archives, site, *modules):
    site = pathlib.Path(site)
    site.mkdir(parents=True, exist_ok=True)
    for module in modules:
        subprocess.run(
            ["docc", "process-archive", "transform-for-static-hosting", f"{archives}/{module}.doccarchive",
             "--output-path", str(site / module), "--hosting-base-path", module],
            check=True)
    for page in PAGES:
        write_page(page, site, modules)
    print(f"{site}/index.html: {len(modules)} modules, {len(PAGES)} pages; python3 -m http.server -d {site}")


if __name__ == "__main__":
    main(*sys.argv[1:])
