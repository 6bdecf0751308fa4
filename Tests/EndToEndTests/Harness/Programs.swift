import Foundation
import Glibc
import HealthModel
import TestSupport

/// Where the built programs are: in `HEALTHBUS_BIN` if it is set, and otherwise beside the test bundle.
enum Programs {
    static let folder: String = {
        if let folder = ProcessInfo.processInfo.environment["HEALTHBUS_BIN"], !folder.isEmpty { return folder }
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (bundle as NSString).deletingLastPathComponent
    }()

    /// The checkout that the tests were built from.
    static let checkout = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    static var healthbus: String { folder + "/healthbus" }

    /// `healthbus-<name>`.
    static func path(_ name: String) -> String { folder + "/healthbus-" + name }

    /// The instances of the default stack, each with its plugin.
    private static func instances() throws -> [String: String] {
        let file = try Data(contentsOf: URL(filePath: folder + "/configs/default.json"))
        return (try Value(json: file, comments: true)["instances"].object ?? [:]).compactMapValues {
            $0["plugin"].string
        }
    }

    /// How many processes the default stack has.
    static func countOfInstances() throws -> Int { try instances().count }

    /// The default stack's instances that are handlers, according to their manifests.
    static func handlers() throws -> Set<String> {
        Set(
            try instances().filter { _, plugin in
                let manifest = try Data(contentsOf: URL(filePath: folder + "/plugins/\(plugin)/plugin.json"))
                return try Value(json: manifest, comments: true)["kind"] == "handler"
            }.keys)
    }

    /// A number that can be set for runs by hand; otherwise a small one chosen by the test.
    static func number(_ variable: String, else usual: Int) -> Int {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) } ?? usual
    }
}

/// The condition that a test waited for in vain, and what the program had printed up to then.
struct HarnessError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Waits for a condition, checking it every few milliseconds.
/// - Parameter seconds: only for things that take long even on an idle machine; the wait is never shorter than
///   `Patience`.
/// - Throws: `HarnessError` that describes what didn't happen, or whatever the condition throws.
func until(
    _ what: @autoclosure () -> String, within seconds: Double = Patience.seconds, every milliseconds: Int = 5,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(max(seconds, Patience.seconds))
    while true {
        // Checks once more after the deadline, since a thread that wasn't scheduled for a long time may have missed the
        // change.
        let isLast = ContinuousClock.now > deadline
        if try await condition() { return }
        if isLast { throw HarnessError("it doesn't come: \(what())") }
        try await Task.sleep(for: .milliseconds(milliseconds))
    }
}

/// Running processes whose arguments contain this text.
func processes(naming text: String) -> [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.filter { pid in
        guard pid != getpid(), let line = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") else {
            return false
        }
        return line.split(separator: 0).contains { String(decoding: $0, as: UTF8.self).contains(text) }
    }
}
