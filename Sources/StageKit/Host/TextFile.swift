import Foundation

/// A small file that holds one text, such as a password or what the kernel says about a device.
package enum TextFile {
    /// The text without the white space around it; nil if the file can't be read.
    package static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map {
            String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }
}
