import Foundation
import Glibc
import HealthModel

/// Keeps each error and hint that `healthbus` prints, one per line as JSON, in the file named by `HEALTHBUS_MESSAGES`,
/// for the table of `make messages`. If the variable isn't set, nothing is kept.
enum ReportedMessages {
    private static let file = ProcessInfo.processInfo.environment["HEALTHBUS_MESSAGES"].flatMap {
        $0.isEmpty ? nil : $0
    }

    static func note(_ words: [String], _ error: String) throws {
        guard let file else { return }
        let lines = error.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var text = ""
        for (index, line) in lines.enumerated() where line.hasPrefix("healthbus: ") {
            // A list of mistakes continues on the lines after the first.
            let more = lines[(index + 1)...].prefix { $0.hasPrefix("  ") }
            let next = lines[(index + 1 + more.count)...].first ?? ""
            let reported: Value = [
                "command": .string(words.prefix { !$0.hasPrefix("/") }.joined(separator: " ")),
                "message": .string(([String(line.dropFirst(11))] + more).joined(separator: "\n")),
                "hint": next.hasPrefix("hint: ") ? .string(String(next.dropFirst(6))) : .null,
            ]
            text += reported.json() + "\n"
        }
        guard !text.isEmpty else { return }
        // Several tests append at the same time, but a single write of less than a page isn't split.
        let descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw HarnessError("can't write \(file)") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else { throw HarnessError("can't write \(file)") }
    }
}
