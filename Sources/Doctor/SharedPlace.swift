import Configuration
import HealthModel

/// Where a destination delivers to, according to its configuration. Pure.
struct SharedPlace {
    /// The option that would distinguish two instances.
    let option: String
    /// For people.
    let text: String
    /// A key that is equal for two instances if they deliver to the same place.
    let key: String
    private let kind: DestinationDeclaration.Kind

    /// - Parameter backend: the URL of the stack's own backend.
    init?(_ instance: StackConfiguration.Instance, backend: String?) {
        guard let declared = instance.manifest.destination,
            let address = instance.address ?? (declared.kind == .backend ? backend : nil),
            let last = declared.place.last
        else { return nil }
        (kind, option) = (declared.kind, last)
        let parts = declared.place.dropFirst().map { ($0, instance.configuration[$0].string ?? "") }
        text = (parts.map { "\($0) '\($1)'" } + [address]).joined(separator: " at ")
        key = ([kind.rawValue, Self.uniform(address, kind)] + parts.map(\.1)).joined(separator: " ")
    }

    var remedy: String {
        switch kind {
        case .folder: "give each a folder of its own"
        case .broker: "give each a \(option) of its own, or name all people in one of them"
        default: "leave one of them out: everything is sent there twice"
        }
    }

    /// Puts an address into a uniform form, however it was written.
    private static func uniform(_ address: String, _ kind: DestinationDeclaration.Kind) -> String {
        let address = address.hasSuffix("/") ? String(address.dropLast()) : address
        guard kind == .broker else { return address }
        var text = address.lowercased()
        for (scheme, port) in [("mqtt://", ":1883"), ("mqtts://", ":8883")]
        where text.hasPrefix(scheme) && text.hasSuffix(port) {
            text.removeLast(port.count)
        }
        return text.replacing("://localhost", with: "://127.0.0.1")
    }
}
