import Configuration
import FilesReading
import Foundation
import HealthModel
import Logging
import UploaderReading

extension Stack {
    /// The destinations that the stack delivers to, each one a separate instance.
    package var destinations: [StackConfiguration.Instance] {
        configuration.instances.filter { $0.manifest.kind == .uploader }
    }

    /// The destination that a command is about.
    /// - Parameters:
    ///   - name: the value of `--destination`; if it is nil, there must be only one destination.
    ///   - what: what the command does with the destination, as a participle such as "verified".
    ///   - isMeant: whether the command can be used with a destination.
    /// - Throws: `Failure` (usage) that lists the possible ones.
    package func destination(
        _ name: String?, toBe what: String, where isMeant: (StackConfiguration.Instance) -> Bool = { _ in true }
    ) throws -> StackConfiguration.Instance {
        let meant = destinations.filter(isMeant)
        let names = meant.map(\.name).joined(separator: ", ")
        guard let name else {
            if let only = meant.first, meant.count == 1 { return only }
            guard !meant.isEmpty else {
                throw Failure(
                    "this stack has no destination that can be \(what)", hint: "name one in \(configuration.file)")
            }
            throw Failure.usage(
                "this stack has \(meant.count) destinations that can be \(what): \(names)",
                hint: "name one with --destination, as in --destination \(meant[0].name)")
        }
        if let found = meant.first(where: { $0.name == name }) { return found }
        let isOther = destinations.contains { $0.name == name }
        let nearest = Nearest.to(name, among: meant.map(\.name))
        throw Failure.usage(
            isOther ? "'\(name)' can't be \(what)" : "this stack has no destination '\(name)'",
            hint: meant.isEmpty
                ? "'healthbus destinations' lists what it has"
                : (nearest.map { "did you mean \($0)? " } ?? "") + "choose from \(names)")
    }

    /// Where a destination is, for people to read: a URL, a folder or a broker; otherwise the address that the
    /// destination itself reports, which may be set only in its environment. It never contains a user or a password.
    /// - Parameter told: the address that the destination reports, or last reported.
    package func place(of destination: StackConfiguration.Instance, told: String? = nil) -> String {
        let manifest = destination.manifest
        if manifest.isFolderDestination {
            let folder = try? FilesFolder.path(
                of: destination, file: configuration.file, state: state,
                environment: ProcessInfo.processInfo.environment)
            return folder ?? destination.configuration["folder"].string ?? ""
        }
        if manifest.isBrokerDestination {
            let usual = manifest.configuration["properties"]["broker"]["default"].string
            return destination.configuration["broker"].string ?? usual ?? manifest.name
        }
        guard manifest.isHTTPDestination else {
            return told ?? destination.configuration["server"].string ?? manifest.name
        }
        if let url = destination.configuration["url"].string { return url }
        let own = try? configuration.only(.backend).map { try BackendAddress.url(of: $0) }
        return (own ?? nil) ?? "nowhere: it has no 'url'"
    }
}
