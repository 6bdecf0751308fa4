import Clocks
import Configuration
import Foundation
import Glibc
import HealthModel
import Logging
import Processes
import StageKit
import Terminal

/// What a stack needs around it: its folder, the disk, ports, programs, secrets, a backend that answers. It only
/// checks, and doesn't change anything.
struct Surroundings {
    let state: StateFolder
    let stack: StackConfiguration
    let catalog: PluginCatalog
    let environment: [String: String]

    /// What `up` itself requires: it refuses to start if any of these is an error.
    var required: [Finding] { programs + folder.list + stores + ports + variables }

    /// The rest: problems that don't keep a stack from starting, except for findings that are marked as doing so.
    /// Anything beyond these is checked by asking each program (`StartChecks`).
    var others: [Finding] { disk.list + lock.list + charts + certificates + secrets + inbox.list + sources + servers }

    private var programs: [Finding] {
        let trampoline = ChildProcess.trampolineBesideProgram()
        let starter =
            access(trampoline, X_OK) == 0
            ? []
            : [
                Finding(
                    .error, trampoline, "isn't there, or can't be run: no process can be started without it",
                    remedy: "'make build' builds all programs into one folder")
            ]
        return starter
            + stack.instances.flatMap { instance -> [Finding] in
                let program = catalog.program(instance.manifest)
                var found: [Finding] = []
                if access(program, X_OK) != 0 {
                    found.append(
                        Finding(
                            .error, instance.name, "its program \(program) isn't there, or can't be run",
                            remedy: "'make build' builds all programs into one folder"))
                }
                do throws(ConfigurationError) { _ = try instance.manifest.exec?.program() } catch {
                    found.append(Finding(error))
                }
                return found
            }
    }

    private var folder: Finding? {
        var status = stat()
        guard stat(state.path, &status) == 0 else {
            // The folder is created on the first start; this finds the existing folder above it.
            var above = URL(fileURLWithPath: state.path)
            while above.path != "/", !FileManager.default.fileExists(atPath: above.path) {
                above.deleteLastPathComponent()
            }
            guard access(above.path, W_OK | X_OK) != 0 else { return nil }
            return Finding(
                .error, state.path, "can't be made: \(above.path) isn't writable by this account",
                remedy: "choose another folder with --state")
        }
        if state.isFile { return .notAFolder(state.path) }
        if status.st_uid != getuid() {
            return Finding(
                .error, state.path, "belongs to another account",
                remedy: "run as that account, or choose another folder with --state")
        }
        guard status.st_mode & 0o077 != 0 else { return nil }
        let rights = String(status.st_mode & 0o777, radix: 8)
        return Finding(
            .warning, state.path, "is open to other accounts (0\(rights)); 'up' closes it",
            remedy: "chmod 700 \(state.path)")
    }

    private var disk: Finding? {
        guard let free = DiskSpace.free(at: state.path), let severity = DiskSpace.severity(free: free) else {
            return nil
        }
        return Finding(
            severity, state.path, "has \(HumanFormat.bytes(Int(free))) left on its disk",
            remedy: "free some space: ten years of one person's data take about 2 GB")
    }

    private var lock: Finding? {
        let folder = state.instance("supervisor")
        guard InstanceLock.isHeld(folder: folder) else { return nil }
        let process = InstanceLock.holder(folder: folder).map { " (process \($0))" } ?? ""
        return Finding(
            .note, state.path, "a stack is running in it" + process,
            remedy: "'healthbus doctor' looks at the running stack")
    }

    private var certificates: [Finding] {
        stack.instances.filter { $0.manifest.kind == .ingest }.flatMap { instance in
            CertificateCheck(instance, now: WallClock.now).findings(about: stack.file) {
                "instances.\(instance.name).configuration.\($0)"
            }
        }
    }

    private var variables: [Finding] {
        var found: [Finding] = []
        do { _ = try StageLog.standard("validate", file: "/dev/null", environment: environment) } catch let failure
            as Failure
        {
            found.append(Finding(.error, ConfigurationError.environment, failure.message, remedy: failure.hint ?? ""))
        } catch {
            found.append(
                Finding(
                    .error, ConfigurationError.environment, "\(error)",
                    remedy: "set HEALTHBUS_LOG and HEALTHBUS_LOG_LEVEL"))
        }
        var zones: [(String, String, String?)] = []
        if let zone = environment["HEALTHBUS_ZONE"], !zone.isEmpty {
            zones.append((zone, ConfigurationError.environment, "HEALTHBUS_ZONE"))
        }
        if let observer = stack.only(.observer), let zone = observer.configuration["zone"].string {
            zones.append((zone, stack.file, "instances.\(observer.name).configuration.zone"))
        }
        for (zone, subject, key) in zones {
            do { _ = try ZoneTimeline(zone: zone) } catch {
                found.append(
                    Finding(.error, subject, key: key, "\(error)", remedy: "write an IANA name, such as Europe/Berlin"))
            }
        }
        return found
    }

    /// The folder from which the observer takes files.
    private var inbox: Finding? {
        guard let observer = stack.only(.observer),
            let path = InboxFolder.path(of: observer, environment: environment),
            let problem = InboxFolder.problem(path)
        else { return nil }
        let isVariable = environment[InboxFolder.variable].map { !$0.isEmpty } == true
        return Finding(
            .warning, isVariable ? ConfigurationError.environment : stack.file,
            key: isVariable ? InboxFolder.variable : "instances.\(observer.name).configuration.inbox",
            "nothing can be taken out of the inbox folder", remedy: problem)
    }
}
