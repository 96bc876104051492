"""Prints what the user's package index offers of one project, as JSON: every version with its Requires-Python,
whether it was yanked, and when it was published.

pip itself is the client, so that its configuration, proxies, certificates and passwords hold; what it would choose is
not asked, because that depends on the Python. Written for every Python and pip that a server may run on. Of pip's inner
parts it uses three that have stood since 19.3: create_command, main and _build_session.
"""
import json
import os
import re
import sys

try:
    from html.parser import HTMLParser
    from urllib.parse import unquote
    from urllib.request import url2pathname
except ImportError:
    sys.exit("Python 3 is needed to ask the index")

try:
    import pip  # noqa: F401
except ImportError:
    # The environments that uv makes have none; every Python brings one along.
    import ensurepip

    bundled = os.path.join(os.path.dirname(ensurepip.__file__), "_bundled")
    sys.path[:0] = [os.path.join(bundled, name) for name in os.listdir(bundled) if name.startswith("pip-")]

ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.2, text/html; q=0.1"
ARCHIVES = (".tar.gz", ".zip", ".tar.bz2", ".tgz")


class Page(HTMLParser):
    """The files of a page in HTML (PEP 503)."""

    def __init__(self):
        HTMLParser.__init__(self)
        self.files = []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag != "a" or not attrs.get("href"):
            return
        name = unquote(attrs["href"].split("#")[0].rstrip("/").rsplit("/", 1)[-1])
        self.files.append(
            {
                "filename": name,
                "requires-python": attrs.get("data-requires-python"),
                "yanked": "data-yanked" in attrs,
            }
        )


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def version_of(filename, project):
    """The version in a file's name; None where it is no file of the project."""
    if filename.endswith(".whl"):
        parts = filename[:-4].split("-")
        return parts[1] if len(parts) >= 5 and canonical(parts[0]) == project else None
    for ending in ARCHIVES:
        if filename.endswith(ending):
            name, _, version = filename[: -len(ending)].rpartition("-")
            return version if canonical(name) == project else None
    return None


def folders(options):
    """Local folders that pip looks into besides the indexes."""
    for place in options.find_links or []:
        path = url2pathname(place[len("file:"):]) if place.startswith("file:") else os.path.expanduser(place)
        if os.path.isdir(path):
            yield path


def page_of(session, index, project):
    url = index.rstrip("/") + "/" + project + "/"
    if url.startswith("file:"):
        url += "index.html"
    response = session.get(url, headers={"Accept": ACCEPT, "Cache-Control": "max-age=0"})
    if response.status_code in (404, 410):
        return None
    response.raise_for_status()
    if "json" in response.headers.get("Content-Type", ""):
        return response.json().get("files", [])
    page = Page()
    page.feed(response.text)
    return page.files


def ask(command, options, name):
    project = canonical(name)
    indexes = [] if options.no_index else [options.index_url] + (options.extra_index_urls or [])
    try:
        with command._build_session(options) as session:
            pages = [page_of(session, index, project) for index in indexes if index]
    except Exception as problem:  # whatever pip's client may raise: the last line tells it
        sys.stderr.write("%s: %s\n" % (type(problem).__name__, " ".join(str(problem).split())))
        return 1
    files = [file for page in pages if page is not None for file in page]
    releases = {}
    add(releases, files, project)
    local = {}
    for folder in folders(options):
        add(local, [{"filename": filename} for filename in os.listdir(folder)], project)
    for version in local:
        releases.setdefault(version, local[version])
    known = bool(releases) or any(page is not None for page in pages)
    print(json.dumps({"known": known, "releases": list(releases.values())}, indent=0))
    return 0


def add(releases, files, project):
    for file in files:
        version = version_of(file.get("filename", ""), project)
        if version is None:
            continue
        release = releases.setdefault(version, {"version": version, "requires": [], "yanked": True, "published": None})
        requires = file.get("requires-python") or None
        if requires not in release["requires"]:
            release["requires"].append(requires)
        release["yanked"] = release["yanked"] and file.get("yanked", False) is not False
        published = file.get("upload-time")
        if published and (release["published"] is None or published < release["published"]):
            release["published"] = published


def main():
    from pip._internal.commands import create_command

    command = create_command("download")
    command.run = lambda options, arguments: ask(command, options, arguments[0])
    return command.main(sys.argv[1:])


sys.exit(main())
