import Foundation
import Glibc
import Logging
import Processes

/// A program that prints the backend's token: a password manager, or a program that fetches an expiring one. Run
/// without a shell; its output is never logged.
package struct TokenCommand: Sendable, Equatable {
    /// The program's full path and its arguments.
    package let words: [String]
    /// Seconds until the program is killed.
    package let timeout: Double

    /// More than any token needs, and less than a pipe holds.
    private static let limit = 16 << 10

    package init(_ words: [String], timeout: Double = 10) { (self.words, self.timeout) = (words, timeout) }

    /// Runs the program to completion, on the caller's thread.
    /// - Throws: `Failure`, without any of its output.
    package func token() throws(Failure) -> String {
        guard let program = words.first, program.hasPrefix("/") else {
            throw Failure(
                "'tokenCommand' names no program", hint: "write the program's full path, then its arguments")
        }
        let (exit, text) = try run(program)
        guard let exit else {
            throw Failure(
                "the token command \(program) ran longer than \(Int(timeout)) s and was ended",
                hint: "make sure it asks no questions and prints the token at once")
        }
        guard exit.isSuccess else {
            throw Failure(
                "the token command \(program) ended with \(exit)",
                hint: "run it by hand as the user that healthbus runs as")
        }
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Failure(
                "the token command \(program) printed no token",
                hint: "it must print only the token: one line of ASCII without spaces")
        }
        return token
    }

    /// How the program ended (nil if it had to be killed), and its output.
    private func run(_ program: String) throws(Failure) -> (ProcessExit?, String) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw Failure(
                "can't make a pipe for the token command: \(String(cString: strerror(errno)))",
                hint: "this process has too many files open: restart it")
        }
        defer { close(ends[0]) }
        let silence = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { if silence >= 0 { close(silence) } }
        let child: ChildProcess
        do {
            defer { close(ends[1]) }
            child = try ChildProcess(
                ProcessSpec(
                    name: "the token command", executable: program, arguments: Array(words.dropFirst()),
                    streams: .init(output: ends[1], error: silence)),
                trampoline: ChildProcess.trampolineBesideProgram())
        } catch {
            throw Failure("\(error.message)", hint: error.hint)
        }
        let exit = child.wait(for: .seconds(timeout))
        if exit == nil {
            child.kill()
            child.wait()
        }
        return (exit, Self.read(ends[0]))
    }

    /// Reads what is there: the program has ended, and anything it left running isn't waited for.
    private static func read(_ descriptor: Int32) -> String {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        while count < limit {
            let got = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress?.advanced(by: count), limit - count)
            }
            guard got > 0 else { break }
            count += got
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
