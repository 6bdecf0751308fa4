import Dispatch
import Foundation
import Glibc
import Synchronization

/// What a program writes to standard error.
final class ExecErrorOutput: Sendable {
    private static let longestLine = 1000
    private static let linesPerWindow = 200
    private static let window: Duration = .seconds(10)
    private static let linesKept = 100

    private let kept = Mutex<[String]>([])
    private let ended = DispatchSemaphore(value: 0)

    /// Reads to the end of the pipe and closes it, on a thread of its own. Beyond 200 lines in 10 s, lines are counted
    /// instead of logged.
    init(_ descriptor: Int32, _ said: @escaping @Sendable (String) -> Void) {
        let thread = Thread { [self] in
            var buffer = [UInt8](repeating: 0, count: 4096)
            var line: [UInt8] = []
            var reported = 0
            var left = 0
            var since = ContinuousClock.now
            func report() {
                defer { line.removeAll(keepingCapacity: true) }
                let now = ContinuousClock.now
                if now - since > Self.window {
                    if left > 0 { said("(\(left) more lines left out)") }
                    (since, reported, left) = (now, 0, 0)
                }
                let text = String(decoding: line, as: UTF8.self)
                kept.withLock { $0 = $0.suffix(Self.linesKept - 1) + [text] }
                guard reported < Self.linesPerWindow else { return left += 1 }
                reported += 1
                said(text)
            }
            while true {
                let count = Glibc.read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                for byte in buffer[..<count] {
                    if byte == UInt8(ascii: "\n") {
                        report()
                    } else if line.count < Self.longestLine {
                        line.append(byte)
                    }
                }
            }
            if !line.isEmpty { report() }
            if left > 0 { said("(\(left) more lines left out)") }
            close(descriptor)
            ended.signal()
        }
        thread.name = "exec log"
        thread.start()
    }

    /// The last lines of a program that has ended, once all have arrived, or after a second: a process it started may
    /// hold the pipe open.
    func last() -> [String] {
        if ended.wait(timeout: .now() + 1) == .success { ended.signal() }
        return kept.withLock { $0 }
    }
}
