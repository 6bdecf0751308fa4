import Foundation
import Glibc
import HealthModel
import Processes
import TestSupport

/// A program that a test has started. Its streams go to files, so that it never waits for a reader.
final class Command: Sendable {
    /// How a program ended and what it printed.
    struct Ended {
        var exit: ProcessExit
        var output: String
        var error: String

        /// The printed output, parsed as JSON.
        func json() throws -> Value {
            do { return try Value(json: Array(output.utf8)) } catch {
                throw HarnessError("not JSON (\(exit)): \(output.prefix(300)); \(self.error.suffix(1000))")
            }
        }
    }

    let words: [String]
    let child: ChildProcess
    private let outputFile: String
    private let errorFile: String

    /// - Parameter log: the path of the files for its streams, without their extensions.
    init(_ program: String, _ words: [String], environment: [String: String], log: String) async throws {
        self.words = words
        outputFile = log + ".out"
        errorFile = log + ".err"
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        for file in [outputFile, errorFile] {
            let descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            guard descriptor >= 3 else { throw HarnessError("can't write \(file)") }
            descriptors.append(descriptor)
        }
        child = try await Launcher.shared.start(
            ProcessSpec(
                name: "test", executable: program, arguments: words, environment: environment,
                streams: .init(output: descriptors[0], error: descriptors[1])))
    }

    var output: String { Self.text(outputFile) }
    var error: String { Self.text(errorFile) }
    var isRunning: Bool { child.poll() == nil }

    /// Waits for the program to end; if it doesn't, kills it and fails the test.
    /// - Parameter seconds: the same as for the function `until`.
    func ended(within seconds: Double = Patience.seconds) async throws -> Ended {
        do {
            try await until("the end of healthbus \(words.joined(separator: " "))", within: seconds) { !isRunning }
        } catch let late as HarnessError {
            child.kill()
            throw HarnessError("\(late)\n\(error.suffix(4000))")
        }
        let ended = Ended(exit: child.wait(), output: output, error: error)
        try ReportedMessages.note(words, ended.error)
        return ended
    }

    private static func text(_ file: String) -> String {
        String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
    }
}
