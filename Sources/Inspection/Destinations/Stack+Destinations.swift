import Configuration
import Foundation
import Logging

extension Stack {
    /// The destinations that the stack delivers to, each one a separate instance.
    package var destinations: [StackConfiguration.Instance] {
        configuration.instances.filter { $0.manifest.destination != nil }
    }

    /// The destination that a command is about.
    /// - Parameters:
    ///   - name: the value of `--destination`; if it is nil, there must be only one destination.
    ///   - what: what the command does with the destination, as a participle such as "verified".
    ///   - isMeant: whether the command can be used with a destination.
    ///   - why: why it can't be used with one, as the end of a sentence.
    /// - Throws: `Failure` (usage) that lists the possible ones.
    package func destination(
        _ name: String?, toBe what: String, where isMeant: (StackConfiguration.Instance) -> Bool = { _ in true },
        why: (StackConfiguration.Instance) -> String = { _ in "" }
    ) throws -> StackConfiguration.Instance {
        let meant = destinations.filter(isMeant)
        let names = meant.map(\.name).joined(separator: ", ")
        guard let name else {
            if let only = meant.first, meant.count == 1 { return only }
            guard !meant.isEmpty else {
                let only = destinations.count == 1 ? destinations.map(why)[0] : ""
                throw Failure(
                    "this stack has no destination that can be \(what)\(only)",
                    hint: "name one in \(configuration.file)")
            }
            throw Failure.usage(
                "this stack has \(meant.count) destinations that can be \(what): \(names)",
                hint: "name one with --destination, as in --destination \(meant[0].name)")
        }
        if let found = meant.first(where: { $0.name == name }) { return found }
        let other = destinations.first { $0.name == name }
        let nearest = Nearest.to(name, among: meant.map(\.name))
        throw Failure.usage(
            other.map { "'\(name)' can't be \(what)\(why($0))" } ?? "this stack has no destination '\(name)'",
            hint: meant.isEmpty
                ? "'healthbus destinations' lists what it has"
                : (nearest.map { "did you mean \($0)? " } ?? "") + "choose from \(names)")
    }

    /// Where a destination is, for people to read: a URL, a folder or a broker; otherwise the address that the
    /// destination itself reports, which may be set only in its environment. It never contains a user or a password.
    /// - Parameter reported: the address that the destination reports, or last reported.
    package func place(of destination: StackConfiguration.Instance, reported: String? = nil) -> String {
        let name = destination.manifest.name
        switch destination.manifest.destination?.kind {
        case .backend:
            let own = try? configuration.only(.backend).map { try BackendAddress.url(of: $0) }
            return destination.address ?? (own ?? nil) ?? "nowhere: it has no '\(destination.addressOption)'"
        case .folder:
            let folder = try? destination.folder(
                file: configuration.file, state: state, environment: ProcessInfo.processInfo.environment)
            return folder ?? destination.address ?? ""
        case .broker: return destination.address ?? name
        case .server: return reported ?? destination.address ?? name
        case .database, nil: return reported ?? name
        }
    }
}
