import Configuration
import HealthModel
import UploaderReading

/// Where a destination delivers to, according to its configuration. Pure.
struct SharedPlace {
    /// The option that would tell two instances apart.
    let option: String
    /// For people.
    let text: String
    /// A key that is equal for two instances if they deliver to the same place.
    let key: String

    /// - Parameter backend: the URL of the stack's own backend.
    init?(_ instance: StackConfiguration.Instance, backend: String?) {
        let (manifest, options) = (instance.manifest, instance.configuration)
        func defaulted(_ option: String) -> String {
            options[option].string ?? manifest.configuration["properties"][option]["default"].string ?? ""
        }
        if manifest.isBrokerDestination {
            option = "topic"
            text = "topic '\(defaulted("topic"))' at \(defaulted("broker"))"
            key = "broker \(Self.broker(defaulted("broker"))) \(defaulted("topic"))"
            return
        }
        if manifest.isFolderDestination {
            option = "folder"
        } else if manifest.isHTTPDestination {
            option = "url"
        } else if manifest.kind == .uploader, !manifest.configuration["properties"]["server"].isNull {
            option = "server"
        } else {
            return nil
        }
        guard let place = options[option].string ?? (option == "url" ? backend : nil) else { return nil }
        text = place
        key = option + " " + (place.hasSuffix("/") ? String(place.dropLast()) : place)
    }

    var remedy: String {
        switch option {
        case "folder": "give each a folder of its own"
        case "topic": "give each a topic of its own, or name all people in one of them"
        default: "leave one of them out: everything is sent there twice"
        }
    }

    /// Puts a broker's address into a uniform form, however it was written.
    private static func broker(_ text: String) -> String {
        var text = text.lowercased()
        if text.hasSuffix("/") { text.removeLast() }
        for (scheme, port) in [("mqtt://", ":1883"), ("mqtts://", ":8883")]
        where text.hasPrefix(scheme) && text.hasSuffix(port) {
            text.removeLast(port.count)
        }
        return text.replacing("://localhost", with: "://127.0.0.1")
    }
}
