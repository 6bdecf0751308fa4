import Foundation
import Glibc
import HealthModel
import Synchronization

/// What a state folder itself records about its stack, in `<state>/stack.json`: the configuration it was last started
/// with ("config", a path), so that no command reads a different stack from the running one; the options and variables
/// of `up` that it was started with ("options"); the plugins that its instances have been swapped for ("instances", applied on top
/// of that configuration); the instances that a person has stopped ("stopped"); and the zones in which days began
/// before the observer's store was lost ("formerZones").
package struct StackLayer: Sendable {
    package let file: String

    package init(_ state: StateFolder) { file = state.path + "/stack.json" }

    /// - Throws: `ConfigurationError` when the file exists but can't be used.
    func read() throws -> Value {
        let data: Data
        do { data = try Data(contentsOf: URL(fileURLWithPath: file)) } catch CocoaError.fileReadNoSuchFile {
            // The file's existence isn't checked first, because a swap may write it in between.
            return [:]
        } catch {
            // Problems with the folder itself are reported by whatever needs the folder.
            guard FileManager.default.fileExists(atPath: file) else { return [:] }
            throw ConfigurationError(file: file, key: "", reason: "can't be read; check its permissions")
        }
        let value = try ConfigurationText.value(data, file: file)
        let known = ["config", "formerZones", "instances", "options", "stopped"]
        for key in (value.object ?? [:]).keys.sorted() where !known.contains(key) {
            throw ConfigurationError(
                file: file, key: key, reason: "isn't known here; use one of \(known.joined(separator: ", "))")
        }
        guard value["config"].isNull || value["config"].string != nil else {
            throw ConfigurationError(file: file, key: "config", reason: "must be a path")
        }
        guard
            value["options"].isNull
                || (value["options"].object != nil && value["options"].read(StartOptions.self) != nil)
        else { throw ConfigurationError(file: file, key: "options", reason: "must be an object of strings") }
        guard value["formerZones"].isNull || value["formerZones"].object != nil else {
            throw ConfigurationError(file: file, key: "formerZones", reason: "must be an object")
        }
        guard value["stopped"].isNull || value["stopped"].read([String].self) != nil else {
            throw ConfigurationError(file: file, key: "stopped", reason: "must be a list of names")
        }
        guard value.object != nil, value["instances"].isNull || value["instances"].object != nil else {
            throw ConfigurationError(file: file, key: "instances", reason: "must be an object")
        }
        return value
    }

    /// The file that the stack was last started with; nil for the default configuration alone.
    package func configurationFile() throws -> String? { try read()["config"].string }

    /// The options that the stack was last started with.
    package func startOptions() throws -> StartOptions { try read()["options"].read() ?? StartOptions() }

    /// Stores what the stack is started with.
    /// - Parameter configurationFile: its absolute path; nil for the default alone.
    /// - Throws: `ConfigurationError` when the file can't be used or written; it is then unchanged.
    package func remember(_ configurationFile: String?, _ options: StartOptions = StartOptions()) throws {
        try change { members in
            members["config"] = configurationFile.map { .string($0) }
            members["options"] = options == StartOptions() ? nil : Value(options)
        }
    }

    /// The zone in which each person's days began before the observer's store was lost; people whose zone has been
    /// settled since aren't included.
    package func formerZones() throws -> [String: String] {
        (try read()["formerZones"].object ?? [:]).compactMapValues(\.string)
    }

    /// Stores the zone, or forgets it (nil).
    /// - Throws: `ConfigurationError` when the file can't be used or written; it is then unchanged.
    package func setFormerZone(_ zone: String?, of user: String) throws {
        try change { members in
            var zones = members["formerZones"]?.object ?? [:]
            zones[user] = zone.map { .string($0) }
            members["formerZones"] = zones.isEmpty ? nil : .object(zones)
        }
    }

    /// Instances that a person has stopped. They stay down, whoever starts the stack, until a person starts them.
    package func stopped() throws -> Set<String> { Set(try read()["stopped"].read([String].self) ?? []) }

    /// Records that an instance stays down, or deletes that record.
    /// - Throws: `ConfigurationError` when the file can't be used or written; it is then unchanged.
    package func setStopped(_ isStopped: Bool, _ instance: String) throws {
        try change { members in
            var names = Set(members["stopped"]?.read([String].self) ?? [])
            if isStopped { names.insert(instance) } else { names.remove(instance) }
            members["stopped"] = names.isEmpty ? nil : .array(names.sorted().map { .string($0) })
        }
    }

    /// The plugin that an instance has been swapped for; nil when it hasn't.
    package func plugin(of instance: String) throws -> String? { try read()["instances"][instance]["plugin"].string }

    /// Sets an instance's plugin, or forgets that it was swapped (nil).
    /// - Parameter plugin: a name, or a folder's absolute path.
    /// - Throws: `ConfigurationError` when the file can't be used or written; it is then unchanged.
    package func set(_ plugin: String?, of instance: String) throws {
        try change { members in
            var instances = members["instances"]?.object ?? [:]
            if let plugin {
                var entry = instances[instance]?.object ?? [:]
                entry["plugin"] = .string(plugin)
                instances[instance] = .object(entry)
            } else {
                instances[instance] = nil
            }
            members["instances"] = instances.isEmpty ? nil : .object(instances)
        }
    }

    /// The file is complete at any moment, and on disk when this returns. A file that would be empty is removed.
    private func change(_ body: (inout [String: Value]) -> Void) throws {
        try Self.changing.withLock { _ in try changeAlone(body) }
    }

    /// The supervisor changes the file from several threads. While it is running, only `zone set` changes the file from
    /// another process, which this doesn't keep out.
    private static let changing = Mutex(())

    private func changeAlone(_ body: (inout [String: Value]) -> Void) throws {
        let old = try read().object ?? [:]
        var members = old
        body(&members)
        guard members != old else { return }
        if members.isEmpty {
            guard unlink(file) == 0 || errno == ENOENT else { throw failure("removed") }
        } else {
            try write(Value.object(members).json(pretty: true) + "\n")
        }
        try sync((file as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY) { _ in }
    }

    private func write(_ text: String) throws {
        // All drafts have the same name: leftovers of a crash are overwritten next time.
        let draft = file + ".new"
        let bytes = Array(text.utf8)
        try sync(draft, O_WRONLY | O_CREAT | O_TRUNC) { descriptor in
            guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw failure("written") }
        }
        guard rename(draft, file) == 0 else { throw failure("written") }
    }

    /// Opens a file or a folder, changes it, and waits until the change is on disk.
    private func sync(_ path: String, _ flags: Int32, _ body: (Int32) throws -> Void) throws {
        let descriptor = open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("written") }
        defer { close(descriptor) }
        try body(descriptor)
        guard fsync(descriptor) == 0 else { throw failure("written") }
    }

    private func failure(_ what: String) -> ConfigurationError {
        let why = String(cString: strerror(errno))
        return ConfigurationError(
            file: file, key: "", reason: "can't be \(what) (\(why)); check that the state folder is yours and has room")
    }
}
