import Configuration
import DeliveryKit
import Foundation
import Protocol
import SQLite

/// Destinations that a stack no longer delivers to, since its configuration lacks them. A configuration given with
/// `--config` replaces the previous one, so this may not be intended.
package enum FormerDestinations {
    /// Returns a line for each, for the person who starts the stack.
    /// - Parameter names: the instances of the configuration.
    package static func notices(in state: StateFolder, besides names: [String]) -> [String] {
        found(in: state, besides: names).map { name in
            "\(name) delivered before, but isn't in this configuration: it gets nothing more. Name it in the "
                + "configuration too, or remove \(state.instance(name))"
        }
    }

    /// Instances that have delivered from this folder and aren't among these names. This is only advice: an unreadable
    /// file is skipped.
    package static func found(in state: StateFolder, besides names: [String]) -> [String] {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: state.path)) ?? []
        return folders.filter { name in
            guard !names.contains(name), FileManager.default.fileExists(atPath: state.database(name)),
                let lock = try? InstanceLock.take(folder: state.instance(name))
            else { return false }
            defer { withExtendedLifetime(lock) {} }
            return (try? Database(path: state.database(name), mode: .readOnly)).map(DeliveryTables.hasDelivered)
                ?? false
        }.sorted()
    }
}

/// Destinations whose acceptance is all that is known: they don't say who they are or what they hold. Pure.
package struct TrustedDestinations: Sendable, Equatable {
    package let names: [String]

    package init(_ names: [String] = []) { self.names = names }

    package init(_ uploaders: [String], _ beats: Beats) {
        names = uploaders.filter { beats[$0]?.beat.uploader?.backend.acceptance == .trust }
    }

    package var isEmpty: Bool { names.isEmpty }

    /// To follow "everything is delivered"; empty if that is proven.
    package var clause: String {
        guard !isEmpty else { return "" }
        let who = names.map { "'\($0)'" }.joined(separator: ", ")
        return ", by \(who) on trust, without proof that the destination keeps it"
    }
}
