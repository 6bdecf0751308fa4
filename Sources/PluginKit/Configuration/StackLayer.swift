import Foundation
import Glibc
import HealthModel

/// What a state folder itself says of its stack: which plugins its instances have been swapped for. `<state>/stack.json`, in the form of any
/// configuration, is laid over the default and over `--config`.
public struct StackLayer: Sendable {
    public let file: String

    public init(_ state: StateFolder) { file = state.path + "/stack.json" }

    /// - Throws: `ConfigurationError` when the file is there and can't be used.
    func read() throws -> Value {
        guard let data = FileManager.default.contents(atPath: file) else {
            guard FileManager.default.fileExists(atPath: file) else { return [:] }
            throw ConfigurationError(file: file, key: "", reason: "can't be read; check its rights")
        }
        let value: Value
        do { value = try Value(json: data, comments: true) } catch {
            throw ConfigurationError(file: file, key: "", reason: "isn't JSON: \(Manifest.plain(error))")
        }
        for key in (value.object ?? [:]).keys where key != "instances" {
            throw ConfigurationError(file: file, key: key, reason: "isn't known here; there is: instances")
        }
        guard value.object != nil, value["instances"].isNull || value["instances"].object != nil else {
            throw ConfigurationError(file: file, key: "instances", reason: "must be an object")
        }
        return value
    }

    /// The plugin that an instance has been swapped for; nil when it hasn't.
    public func plugin(of instance: String) throws -> String? { try read()["instances"][instance]["plugin"].string }

    /// Names an instance's plugin, or forgets that it was swapped (nil). The file is whole at any moment, and on the disk when this returns.
    /// - Parameter plugin: a name, or a folder's absolute path.
    /// - Throws: `ConfigurationError` when the file can't be used or written; it is as it was then.
    public func set(_ plugin: String?, of instance: String) throws {
        var instances = try read()["instances"].object ?? [:]
        if let plugin {
            var entry = instances[instance]?.object ?? [:]
            entry["plugin"] = .string(plugin)
            instances[instance] = .object(entry)
        } else {
            guard instances.removeValue(forKey: instance) != nil else { return }
        }
        if instances.isEmpty {
            guard unlink(file) == 0 || errno == ENOENT else { throw failure("removed") }
        } else {
            try write(Value.object(["instances": .object(instances)]).json(pretty: true) + "\n")
        }
        try sync((file as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY) { _ in }
    }

    private func write(_ text: String) throws {
        // One name for all drafts: what a crash leaves is written over the next time.
        let draft = file + ".new"
        let bytes = Array(text.utf8)
        try sync(draft, O_WRONLY | O_CREAT | O_TRUNC) { descriptor in
            guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw failure("written") }
        }
        guard rename(draft, file) == 0 else { throw failure("written") }
    }

    /// Opens a file, or a folder, has it changed, and waits until that is on the disk.
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
