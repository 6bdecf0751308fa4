import Foundation
import Glibc

/// What a program writes to standard error.
enum ExecErrorOutput {
    private static let longestLine = 1000
    private static let linesPerWindow = 200
    private static let window: Duration = .seconds(10)

    /// Reads to the end of the pipe and closes it, on a thread of its own. Beyond 200 lines in 10 s, lines are counted
    /// instead of reported.
    static func read(_ descriptor: Int32, _ said: @escaping @Sendable (String) -> Void) {
        let thread = Thread {
            var buffer = [UInt8](repeating: 0, count: 4096)
            var line: [UInt8] = []
            var told = 0
            var left = 0
            var since = ContinuousClock.now
            func tell() {
                defer { line.removeAll(keepingCapacity: true) }
                let now = ContinuousClock.now
                if now - since > window {
                    if left > 0 { said("(\(left) more lines left out)") }
                    (since, told, left) = (now, 0, 0)
                }
                guard told < linesPerWindow else { return left += 1 }
                told += 1
                said(String(decoding: line, as: UTF8.self))
            }
            while true {
                let count = Glibc.read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                for byte in buffer[..<count] {
                    if byte == UInt8(ascii: "\n") { tell() } else if line.count < longestLine { line.append(byte) }
                }
            }
            if !line.isEmpty { tell() }
            if left > 0 { said("(\(left) more lines left out)") }
            close(descriptor)
        }
        thread.name = "exec log"
        thread.start()
    }
}
