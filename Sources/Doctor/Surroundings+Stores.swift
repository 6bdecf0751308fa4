import Configuration
import Foundation
import Glibc
import SQLite

extension Surroundings {
    var stores: [Finding] { StoreFiles(state: state, stack: stack).findings }
}

/// What is wrong with the files that a stack's instances keep, judging by their sizes and headers, so that the cost
/// doesn't depend on their content.
struct StoreFiles {
    let state: StateFolder
    let stack: StackConfiguration

    var findings: [Finding] {
        let damaged = stack.instances.compactMap { damage(of: $0) }
        guard let observer = state.lostObserver(of: stack) else { return damaged }
        return damaged + [Finding.lostStore(of: observer, zones: state.keptZones(of: stack))]
    }

    /// The damage for which `up` would refuse to start. It is also nil while the instance is running, since its file is
    /// then changing and its program has already checked it.
    private func damage(of instance: StackConfiguration.Instance) -> Finding? {
        let path = state.database(instance.name)
        guard let problem = fault(at: path, of: instance.manifest.kind),
            !InstanceLock.isHeld(folder: state.instance(instance.name))
        else { return nil }
        let again =
            instance.manifest.kind == .observer
            ? ", start, import every export again, and set the zone again with "
                + Finding.setting(state.keptZones(of: stack)) : ""
        return Finding(
            .error, path, "is damaged: \(problem)", remedy: SQLiteError(damaged: path, problem).hint + again)
    }

    private func fault(at path: String, of kind: Manifest.Kind) -> String? {
        var status = stat()
        let isThere = stat(path, &status) == 0
        if isThere, status.st_size > 0 { return Database.problem(at: path) }
        // A stage's file is complete as soon as it exists; a backend's isn't, and other instances have none.
        guard kind.isStage else { return nil }
        if isThere { return "it is empty: what it held is gone" }
        guard stat(path + "-wal", &status) == 0, status.st_size > 0 else { return nil }
        return "it isn't there, though its log is"
    }
}

extension StateFolder {
    /// Whether there is a file where the folder should be.
    var isFile: Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
    }

    /// The observer, if it isn't running and its store is missing although the files of processes that depend on it
    /// exist. nil on a bus over TCP, where folders may be elsewhere.
    package func lostObserver(of stack: StackConfiguration) -> String? {
        guard !stack.bus.isRemote, let observer = stack.only(.observer)?.name,
            !FileManager.default.fileExists(atPath: database(observer)),
            !InstanceLock.isHeld(folder: instance(observer))
        else { return nil }
        let isFollowed = stack.instances.contains { other in
            other.manifest.kind.isStage && other.manifest.kind != .observer
                && FileManager.default.fileExists(atPath: database(other.name))
        }
        return isFollowed ? observer : nil
    }
}

extension Finding {
    static func notAFolder(_ path: String) -> Finding {
        Finding(
            .error, path, "is a file, not a folder", remedy: "choose another folder with --state, or move it away")
    }

    /// - Parameter zones: the zone in which each person's days began, where known.
    static func lostStore(of observer: String, zones: [String: String]) -> Finding {
        Finding(
            .warning, observer,
            "its store is gone, though others follow it: it held samples, zones set by hand and the imports' history",
            remedy: "restore a backup with 'healthbus restore BACKUP'; or start, import every export again, "
                + "and set the zone again with " + setting(zones))
    }

    /// The commands that set these zones, one per user; if none is known, a command with a placeholder.
    fileprivate static func setting(_ zones: [String: String]) -> String {
        let commands = zones.sorted { $0.key < $1.key }.map { user, zone in
            let whose = user == "me" ? "" : " --user \(user)"
            return "'healthbus zone set \(zone)\(whose)'"
        }
        return commands.isEmpty ? "'healthbus zone set ZONE'" : commands.joined(separator: " and ")
    }
}
