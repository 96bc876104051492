//! The machine that figures come from, as far as it tells. It must never fail a run, and it must not
//! give away which machine it is: the id is a hash that only says "the same as last time".

use std::fs;
use std::path::Path;

use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use super::{Host, tool::sha256};

/// Where systemd, and D-Bus before it, keep a machine's id.
const MACHINE_IDS: [&str; 2] = ["etc/machine-id", "var/lib/dbus/machine-id"];
/// How much of the hash is kept: 64 bits tell machines apart, and nothing leads back.
const ID_LENGTH: usize = 16;
/// Words in the control groups of process 1 that name what runs it.
const CONTAINERS: [&str; 5] = ["docker", "kubepods", "libpod", "containerd", "lxc"];

impl Host {
    /// Reads what the system tells.
    pub fn read() -> Self {
        let root = Path::new("/");
        let system = System::new_with_specifics(
            RefreshKind::nothing()
                .with_cpu(CpuRefreshKind::nothing())
                .with_memory(MemoryRefreshKind::nothing().with_ram()),
        )
        .ok();
        let name = System::host_name().ok();
        Self {
            id: host_id(root, name.as_deref()),
            os: System::long_os_version().ok().filter(|text| !text.is_empty()),
            kernel: System::kernel_version().ok().filter(|text| !text.is_empty()),
            cpu: cpu_model(system.as_ref()),
            logical_cpus: system
                .as_ref()
                .map(|system| system.cpus().len())
                .filter(|count| *count > 0),
            memory_bytes: system.as_ref().map(System::total_memory).filter(|bytes| *bytes > 0),
            virtualization: virtualization(root),
            load_average: System::load_average()
                .ok()
                .map(|load| [load.one, load.five, load.fifteen]),
        }
    }
}

fn cpu_model(system: Option<&System>) -> Option<String> {
    let model = system?.cpus().first()?.brand().trim().to_owned();
    (!model.is_empty()).then_some(model)
}

/// The same on every run of a machine. The machine's own id must not be shown to others (machine-id(5)
/// asks for a keyed hash), so ours is one under our own name.
fn host_id(root: &Path, host_name: Option<&str>) -> Option<String> {
    let machine_id = MACHINE_IDS
        .iter()
        .filter_map(|path| read(root, path))
        .find(|id| !id.is_empty() && id != "uninitialized");
    let known = machine_id.or_else(|| host_name.map(str::to_owned))?;
    let mut id = sha256(&format!("mcp-smoke host {known}"));
    id.truncate(ID_LENGTH);
    Some(id)
}

/// `container (docker) on virtual machine (kvm)`, or the one of them that is known; none on bare metal.
fn virtualization(root: &Path) -> Option<String> {
    let container = container(root).map(|kind| format!("container ({kind})"));
    let machine = hypervisor(root).map(|kind| format!("virtual machine ({kind})"));
    match (container, machine) {
        (Some(container), Some(machine)) => Some(format!("{container} on {machine}")),
        (container, machine) => container.or(machine),
    }
}

fn container(root: &Path) -> Option<String> {
    if let Some(kind) = read(root, "run/systemd/container").filter(|kind| !kind.is_empty()) {
        return Some(kind);
    }
    if root.join("run/.containerenv").exists() {
        return Some("podman".to_owned());
    }
    if root.join(".dockerenv").exists() {
        return Some("docker".to_owned());
    }
    let groups = read(root, "proc/1/cgroup")?;
    let kind = CONTAINERS.iter().find(|kind| groups.contains(**kind))?;
    Some((*kind).to_owned())
}

fn hypervisor(root: &Path) -> Option<String> {
    if let Some(kind) = read(root, "sys/hypervisor/type").filter(|kind| !kind.is_empty()) {
        return Some(kind);
    }
    let vendor = read(root, "sys/class/dmi/id/sys_vendor").unwrap_or_default();
    let product = read(root, "sys/class/dmi/id/product_name").unwrap_or_default();
    let names = format!("{vendor} {product}").to_lowercase();
    // The names under which hypervisors present themselves, as systemd-detect-virt lists them.
    let known = [
        ("kvm", "kvm"),
        ("qemu", "qemu"),
        ("vmware", "vmware"),
        ("virtualbox", "oracle"),
        ("innotek", "oracle"),
        ("microsoft corporation virtual", "microsoft"),
        ("xen", "xen"),
        ("parallels", "parallels"),
        ("amazon ec2", "amazon"),
        ("google compute", "google"),
    ];
    if let Some((_, kind)) = known.iter().find(|(word, _)| names.contains(word)) {
        return Some((*kind).to_owned());
    }
    let flags = read(root, "proc/cpuinfo")?;
    let virtual_cpu = flags
        .lines()
        .filter(|line| line.starts_with("flags"))
        .any(|line| line.split_whitespace().any(|flag| flag == "hypervisor"));
    virtual_cpu.then(|| "unknown".to_owned())
}

fn read(root: &Path, path: &str) -> Option<String> {
    let text = fs::read_to_string(root.join(path)).ok()?;
    Some(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root folder with these files.
    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        root
    }

    #[test]
    fn the_id_is_stable_and_shows_neither_name_nor_machine_id() {
        let known = root(&[("etc/machine-id", "3d1219c7c4c5404aaa1f6d2a48adfda4\n")]);
        let id = host_id(known.path(), Some("name")).expect("an id");
        assert_eq!(host_id(known.path(), Some("renamed")).as_ref(), Some(&id));
        assert!(id.len() == ID_LENGTH && !id.contains("3d1219c7"), "{id}");
        let unknown = root(&[("etc/machine-id", "uninitialized\n")]);
        assert_ne!(
            host_id(unknown.path(), Some("name")),
            host_id(unknown.path(), Some("other"))
        );
        assert_eq!(host_id(unknown.path(), None), None);
    }

    #[test]
    fn containers_and_hypervisors_are_told_apart() {
        for (files, expected) in [
            (vec![], None),
            (vec![(".dockerenv", "")], Some("container (docker)")),
            (vec![("run/.containerenv", "")], Some("container (podman)")),
            (
                vec![("run/systemd/container", "systemd-nspawn")],
                Some("container (systemd-nspawn)"),
            ),
            (
                vec![("proc/1/cgroup", "0::/kubepods/pod1/x")],
                Some("container (kubepods)"),
            ),
            (vec![("proc/1/cgroup", "0::/init.scope")], None),
            (
                vec![("sys/class/dmi/id/sys_vendor", "QEMU")],
                Some("virtual machine (qemu)"),
            ),
            (
                vec![("sys/class/dmi/id/product_name", "VMware7,1")],
                Some("virtual machine (vmware)"),
            ),
            (
                vec![("proc/cpuinfo", "flags\t\t: fpu hypervisor vme\n")],
                Some("virtual machine (unknown)"),
            ),
            (vec![("proc/cpuinfo", "flags\t\t: fpu vme\n")], None),
            (
                vec![(".dockerenv", ""), ("sys/hypervisor/type", "xen\n")],
                Some("container (docker) on virtual machine (xen)"),
            ),
        ] {
            assert_eq!(virtualization(root(&files).path()).as_deref(), expected, "{files:?}");
        }
    }
}
