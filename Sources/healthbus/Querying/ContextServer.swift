import Assistant
import Clocks
import Foundation
import Glibc
import Logging
import ModelContext
import Synchronization

/// The standard input and output of a session. The main thread reads, and answers whatever needs no tool; another
/// thread calls the tools one by one, so that a cancellation can be received while a call is in progress.
///
/// Standard output carries nothing but messages, and nothing about anyone's health goes to standard error.
final class ContextServer: Sendable {
    private struct State {
        var session: ContextSession
        var waiting: [ContextSession.Call] = []
        /// No more input is expected.
        var isEnding = false
        /// The other side no longer reads.
        var isDeaf = false
    }

    private let state: Mutex<State>
    private let tools: AssistantTools
    private let changed = NSCondition()
    private let ended = DispatchSemaphore(value: 0)
    /// Locked, so that lines from two threads are never interleaved.
    private let output = Mutex(StandardStream.output)

    /// The longest message that is accepted, in bytes; questions are short.
    private static let longestLine = 1 << 20

    init(_ session: ContextSession, _ tools: AssistantTools) {
        state = Mutex(State(session: session))
        self.tools = tools
    }

    /// Returns when standard input has ended and everything that was asked before has been answered.
    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let thread = Thread { [self] in
            while let call = next() { answer(call) }
            ended.signal()
        }
        thread.name = "tools"
        // Explaining a day recurses through deeply nested lists.
        thread.stackSize = 8 << 20
        thread.start()
        try read()
        changed.withLock {
            state.withLock { $0.isEnding = true }
            changed.broadcast()
        }
        ended.wait()
        write(state.withLock { $0.session.close() })
    }

    private func read() throws {
        var splitter = LineSplitter(limit: Self.longestLine)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while !state.withLock({ $0.isDeaf }) {
            let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw Failure("can't read standard input", hint: "the assistant closed it and will restart the command")
            }
            guard count > 0 else { break }
            for piece in splitter.take(buffer[..<count]) { take(piece) }
        }
        if let last = splitter.end() { take(last) }
    }

    private func take(_ piece: LineSplitter.Piece) {
        let outputs = changed.withLock {
            defer { changed.broadcast() }
            return state.withLock { state in
                let outputs = state.session.take(piece)
                for case .call(let call) in outputs { state.waiting.append(call) }
                return outputs
            }
        }
        write(outputs)
    }

    /// The next call; nil if no more will come.
    private func next() -> ContextSession.Call? {
        changed.withLock {
            while true {
                let (call, isOver) = state.withLock { state in
                    (state.waiting.isEmpty ? nil : state.waiting.removeFirst(), state.isEnding || state.isDeaf)
                }
                if call != nil || isOver { return call }
                changed.wait()
            }
        }
    }

    private func answer(_ call: ContextSession.Call) {
        guard isWanted(call) else { return }
        let answer = tools.answer(call, now: WallClock.now) { [self] in isWanted(call) }
        write(state.withLock { $0.session.finish(call, answer) })
    }

    private func isWanted(_ call: ContextSession.Call) -> Bool {
        state.withLock { !$0.isDeaf && $0.session.isWanted(call) }
    }

    private func write(_ outputs: [ContextSession.Output]) {
        for case .line(let line) in outputs {
            let text = line + [0x0A]
            let isWritten = output.withLock { stream in text.withUnsafeBufferPointer { stream.write($0) } }
            if !isWritten { state.withLock { $0.isDeaf = true } }
        }
    }
}
