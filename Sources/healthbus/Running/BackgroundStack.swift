import Configuration
import Control
import Foundation
import Inspection
import Logging
import Processes
import Terminal

/// A stack that keeps running in the background, without a terminal.
struct BackgroundStack {
    /// How long to wait for the stack to be ready.
    private static let patience = Duration.seconds(120)

    private let stack: Stack

    init(_ stack: Stack) { self.stack = stack }

    /// The file that receives the output of `up` in the background.
    static func output(of stack: Stack) -> String { stack.supervisorFolder + "/output" }

    /// Starts `up` with these words, and returns once all its processes are ready.
    /// - Parameter imports: files that `up` imports afterwards.
    /// - Throws: `Quiet` with its exit code if `up` ends before that, after printing its output; `Failure` if a stack
    ///   is already running there, or if this one isn't ready within `patience` (it keeps starting).
    func start(_ words: [String], imports: [String] = []) throws {
        for folder in [stack.state.path, stack.supervisorFolder] { try StateFolder.make(folder) }
        // Checked first, since a running stack is using the file for its output.
        if InstanceLock.holder(folder: stack.supervisorFolder) != nil, stack.isUp() { throw stack.occupied }
        let file = Self.output(of: stack)
        switch try DetachedProcess.start(words, output: file, within: Self.patience) {
        case .ready(let pid):
            let said = Self.lines(of: file).filter { !$0.hasPrefix("state ") }
            for line in said { StandardStream.error.write(line + "\n") }
            StandardStream.output.write(
                stack.advice.addressed(
                    "It is running in \(stack.state.path) (process \(pid)); 'healthbus status' shows it, 'healthbus stop' stops it.\n"
                ))
            if let last = imports.last {
                let what = imports.count == 1 ? last : HumanFormat.count(imports.count, "file")
                StandardStream.output.write(
                    stack.advice.addressed(
                        """
                        It goes on to import \(what) in the background: 'healthbus imports list' shows when that is done, \
                        'healthbus status' what is still to compute and to deliver. \
                        If that can't be imported, the stack stops, and \(file) says why.

                        """))
            }
        case .ended(let exit):
            // The failed `up` has already reported why, and what to do.
            StandardStream.error.write(Self.lines(of: file).map { $0 + "\n" }.joined())
            throw Quiet(
                exit == .code(ExitCode.usage.rawValue)
                    ? .usage : exit == .code(ExitCode.damaged.rawValue) ? .damaged : .failed)
        case .late(let pid):
            throw Failure(
                "it has been started (process \(pid)), but isn't ready yet",
                hint: "'healthbus doctor' says what it waits for; the rest is in \(file)")
        }
    }

    private static func lines(of file: String) -> [Substring] {
        String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self).split(separator: "\n")
    }
}
