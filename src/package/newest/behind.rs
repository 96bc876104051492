//! Why a row runs something older than a fresh installation would give, for rows whose package we did not
//! install: by the folder in which it was found. Looks at paths, and at few files.

use std::path::{Component, Path, PathBuf};

use crate::event::{Cause, Ecosystem, Launcher};

/// The cause, where the folder tells. The detail completes the sentence "…: DETAIL".
pub(super) fn cause(ecosystem: Ecosystem, launcher: Launcher, path: &Path, cwd: &Path) -> Option<Cause> {
    let (cause, detail) = match ecosystem {
        Ecosystem::Npm => npm(launcher, path, cwd)?,
        Ecosystem::Pypi => pypi(launcher, path)?,
    };
    Some(Cause {
        cause: cause.to_owned(),
        detail: Some(detail),
    })
}

fn npm(launcher: Launcher, path: &Path, cwd: &Path) -> Option<(&'static str, String)> {
    if let Some(folder) = below(path, "_npx") {
        let detail = format!("npx has it in {} and did not renew it", folder.display());
        return Some(("npx-cache", detail));
    }
    let modules = path.ancestors().find(|folder| folder.ends_with("node_modules"))?;
    // The outermost one: a package may lie in the folder of another.
    let modules = modules
        .ancestors()
        .filter(|folder| folder.ends_with("node_modules"))
        .last()?;
    let project = modules.parent()?;
    if is_global(project) {
        return Some((
            "global-install",
            format!("it is installed globally, in {}", modules.display()),
        ));
    }
    let by_npx = launcher == Launcher::Npx && cwd.starts_with(project);
    by_npx.then(|| ("parent-folder", format!("npx takes what lies in {}", modules.display())))
}

fn pypi(launcher: Launcher, path: &Path) -> Option<(&'static str, String)> {
    let environment = path.ancestors().find(|folder| folder.join("pyvenv.cfg").is_file());
    let tool = environment.filter(|folder| folder.join("uv-receipt.toml").is_file());
    match (tool, launcher) {
        (Some(tool), Launcher::Uvx) => {
            let detail = format!("uvx runs the installed `uv tool` in {}", tool.display());
            Some(("uv-tool", detail))
        }
        (Some(tool), _) => Some(("uv-tool", format!("it is a `uv tool`, in {}", tool.display()))),
        (None, Launcher::Uvx) => {
            let folder = environment.unwrap_or(path);
            let detail = format!("uvx has it in {} and did not renew it", folder.display());
            Some(("uvx-cache", detail))
        }
        (None, _) => None,
    }
}

/// npm's global packages lie in `<prefix>/lib/node_modules`, on Windows beside its own program.
fn is_global(project: &Path) -> bool {
    (project.ends_with("lib") && !project.join("package.json").is_file()) || project.join("npm.cmd").is_file()
}

/// The folder right below one of that name.
fn below(path: &Path, name: &str) -> Option<PathBuf> {
    let mut folder = PathBuf::new();
    let mut components = path.components();
    while let Some(component) = components.next() {
        folder.push(component);
        if component.as_os_str() == name {
            return match components.next() {
                Some(Component::Normal(next)) => Some(folder.join(next)),
                Some(_) | None => None,
            };
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn npm(launcher: Launcher, path: &str, cwd: &str) -> Option<String> {
        cause(Ecosystem::Npm, launcher, Path::new(path), Path::new(cwd)).map(|cause| cause.cause)
    }

    #[test]
    fn the_folder_of_an_npm_package_tells_why_it_is_old() {
        let npx = "/home/a/.npm/_npx/65010bb6b87eaf3a/node_modules/@scope/x";
        assert_eq!(npm(Launcher::Npx, npx, "/home/a").as_deref(), Some("npx-cache"));
        let told = cause(Ecosystem::Npm, Launcher::Npx, Path::new(npx), Path::new("/")).unwrap();
        assert!(told.detail.unwrap().contains("/home/a/.npm/_npx/65010bb6b87eaf3a and"));
        let global = "/opt/node/lib/node_modules/x/node_modules/y";
        assert_eq!(
            npm(Launcher::Direct, global, "/home/a").as_deref(),
            Some("global-install")
        );
        let parent = "/home/a/node_modules/x";
        assert_eq!(
            npm(Launcher::Npx, parent, "/home/a/b/c").as_deref(),
            Some("parent-folder")
        );
        // Who starts a package of his own project by its path meant that one.
        assert_eq!(npm(Launcher::Direct, parent, "/home/a"), None);
        assert_eq!(npm(Launcher::Npx, "/elsewhere/x", "/home/a"), None);
    }

    #[test]
    fn an_installed_uv_tool_is_told_from_uvs_cache() {
        let folder = tempfile::tempdir().unwrap();
        let environment = folder.path().join("x");
        let path = environment.join("lib/python3.12/site-packages/x-1.dist-info");
        fs::create_dir_all(&path).unwrap();
        fs::write(environment.join("pyvenv.cfg"), "").unwrap();
        let word = |launcher| cause(Ecosystem::Pypi, launcher, &path, folder.path()).map(|cause| cause.cause);
        assert_eq!(word(Launcher::Uvx).as_deref(), Some("uvx-cache"));
        assert_eq!(word(Launcher::Direct), None);
        fs::write(environment.join("uv-receipt.toml"), "").unwrap();
        assert_eq!(word(Launcher::Uvx).as_deref(), Some("uv-tool"));
        assert_eq!(word(Launcher::Direct).as_deref(), Some("uv-tool"));
    }
}
