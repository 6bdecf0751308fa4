/// The `device` attribute of exports.
package enum DeviceText {
    /// The description without its frame and memory address, which change from export to export: `<<HKDevice:
    /// 0x283d0a1b0>, name:Apple Watch, model:Watch>` becomes `name:Apple Watch, model:Watch`. Other text is left as it
    /// is.
    package static func stripped(_ text: some StringProtocol) -> String {
        guard text.hasPrefix(opening), let close = text.firstIndex(of: ">") else { return String(text) }
        var rest = text[text.index(after: close)...]
        if rest.hasSuffix(">") { rest = rest.dropLast() }
        return String(rest.drop { $0 == "," || $0 == " " })
    }

    /// The value after `key:` in a description; nil when the key isn't there.
    package static func field(_ key: String, of device: String) -> Substring? {
        for part in device.split(separator: ",") {
            let trimmed = part.drop { $0 == " " }
            if trimmed.hasPrefix(key + ":") { return trimmed.dropFirst(key.count + 1) }
        }
        return nil
    }

    private static let opening = "<<HKDevice"
}
