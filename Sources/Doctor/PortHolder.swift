import Foundation

/// Which process listens on a TCP port of this machine, if this account may see it (`/proc`).
package struct PortHolder: Sendable, Equatable {
    package let pid: Int
    /// Its command line, starting with the program.
    package let words: [String]

    /// For a program of a stack: the state folder that it works on.
    package var state: String? {
        guard program.hasPrefix("healthbus"), let option = words.firstIndex(of: "--state") else { return nil }
        return words.dropFirst(option + 1).first
    }

    /// "the stack in /srv/health (process 4711)", "nginx (process 4711)".
    package var description: String { (state.map { "the stack in \($0)" } ?? program) + " (process \(pid))" }

    private var program: String { words.first.map { ($0 as NSString).lastPathComponent } ?? "another program" }

    package init(pid: Int, words: [String]) { (self.pid, self.words) = (pid, words) }

    /// nil when nobody listens there, or only a process that this account may not inspect.
    package init?(ofPort port: Int) {
        let sockets = ["tcp", "tcp6"].flatMap { name in
            Self.listening(on: port, in: (try? String(contentsOfFile: "/proc/net/\(name)", encoding: .utf8)) ?? "")
        }
        guard !sockets.isEmpty, let pid = Self.process(with: Set(sockets.map { "socket:[\($0)]" })) else { return nil }
        let line = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data()
        self.pid = pid
        words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The inodes of the sockets that listen on a port, from a kernel table (proc(5)).
    private static func listening(on port: Int, in table: String) -> [String] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            // Local address and port in hexadecimal; 0A is LISTEN.
            guard fields.count > 9, fields[3] == "0A",
                fields[1].split(separator: ":").last.flatMap({ Int($0, radix: 16) }) == port
            else { return nil }
            return String(fields[9])
        }
    }

    private static func process(with sockets: Set<String>) -> Int? {
        let manager = FileManager.default
        // Other accounts' processes can't be inspected, and some end in the meantime.
        let pids = ((try? manager.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int($0) }
        return pids.first { pid in
            let folder = "/proc/\(pid)/fd"
            return ((try? manager.contentsOfDirectory(atPath: folder)) ?? []).contains { name in
                (try? manager.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")).map(sockets.contains) ?? false
            }
        }
    }
}
