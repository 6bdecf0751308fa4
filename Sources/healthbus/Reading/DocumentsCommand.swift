import Foundation
import HealthModel
import Inspection
import Logging
import Terminal

enum DocumentsCommand: Command {
    static let help = CommandHelp(
        name: "healthbus documents",
        summary: "List files that came with samples (clinical records, ECGs' waveforms, attachments), or get one.",
        positionals: [.init("list|get", isRequired: false), .init("id", isRequired: false)],
        options: CommandHelp.stackOptions + [
            .user("whose (default: everybody's)"),
            .init("--output", short: "-o", value: "file", help: "get: where to write it; - is standard output"), .json,
        ],
        examples: ["healthbus documents --json", "healthbus documents get 3 -o observation.json"])

    static func run(_ arguments: Arguments) throws {
        let words = arguments.positionals
        switch words.first ?? "list" {
        case "list" where words.count < 2:
            let list = try DocumentList(try Stack(arguments), user: arguments.value("--user"))
            arguments.print(list.value, else: list.table(for: Terminal(.output)))
        case "get":
            guard words.count == 2, let number = Int64(words[1]), let path = arguments.value("--output") else {
                throw Failure.usage(
                    "'documents get' needs an id and --output",
                    hint: "'healthbus documents list' shows the ids; --output names the file to write, or is -")
            }
            try get(number, to: path, arguments)
        default:
            throw Failure.usage(
                "\"\(words.joined(separator: " "))\" isn't 'list' or 'get'", hint: "choose from list, get")
        }
    }

    /// The file gets its final name only once it is complete.
    private static func get(_ number: Int64, to path: String, _ arguments: Arguments) throws {
        let fetch = try DocumentFetch(try Stack(arguments))
        if path == "-" {
            _ = try fetch.get(number) { try FileHandle.standardOutput.write(contentsOf: Data($0)) }
            return
        }
        let partial = path + ".partial"
        guard FileManager.default.createFile(atPath: partial, contents: nil, attributes: [.posixPermissions: 0o600]),
            let file = FileHandle(forWritingAtPath: partial)
        else { throw Failure("can't write '\(path)'", hint: "check the folder and its permissions") }
        do {
            let size = try fetch.get(number) { try file.write(contentsOf: Data($0)) }
            try file.close()
            guard rename(partial, path) == 0 else {
                throw Failure(
                    "can't write '\(path)': \(String(cString: strerror(errno)))",
                    hint: "check the folder and its permissions")
            }
            arguments.print(
                ["id": .integer(number), "path": .string(path), "bytes": .integer(size)],
                else: "Wrote document \(number), \(HumanFormat.bytes(Int(size))), to \(path).\n")
        } catch {
            unlink(partial)
            throw error
        }
    }
}
