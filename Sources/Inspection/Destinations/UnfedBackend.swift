import Configuration
import Foundation

/// A reference backend of the stack that nothing is delivered to, because all uploaders deliver elsewhere. Pure.
package struct UnfedBackend {
    package let backend: StackConfiguration.Instance
    /// The uploaders and the URLs they deliver to, for people.
    package let elsewhere: String

    /// nil if something may be delivered to it, or if nothing is delivered over HTTP at all.
    package init?(_ backend: StackConfiguration.Instance, in stack: StackConfiguration) {
        let uploaders = stack.deliveringToBackends
        guard !uploaders.isEmpty, let port = try? BackendAddress.port(of: backend), port != 0 else { return nil }
        let hosts = ["127.0.0.1", "localhost", "::1", "[::1]", BackendAddress.host(of: backend)]
        for uploader in uploaders {
            guard let url = uploader.address else {
                if stack.only(.backend)?.name == backend.name { return nil }
                continue
            }
            guard let parts = URLComponents(string: url), let host = parts.host?.lowercased() else { return nil }
            if hosts.contains(host), (parts.port ?? (parts.scheme == "https" ? 443 : 80)) == port { return nil }
        }
        self.backend = backend
        elsewhere = uploaders.map { uploader in
            "\(uploader.name) delivers to \(uploader.address ?? "another backend")"
        }.joined(separator: ", ")
    }

    package static let remedy =
        "for queries, add an instance of the plugin uploader without a 'url'; if the URL leads to it, do nothing"
}
