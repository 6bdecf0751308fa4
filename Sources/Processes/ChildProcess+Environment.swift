import Foundation
import Glibc

extension ChildProcess {
    static func environment(overlaidWith changes: [String: String]) -> [String: String] {
        ProcessInfo.processInfo.environment.merging(changes) { _, new in new }
    }

    /// The path of the running program.
    package static func ownProgram() -> String {
        var buffer: [CChar] = Array(repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, length)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The path of `healthbus-trampoline` in the running program's folder, where the build puts both.
    package static func trampolineBesideProgram() -> String {
        let program = ownProgram()
        let folder = program.lastIndex(of: "/").map { program[...$0] } ?? ""
        return folder + "healthbus-trampoline"
    }
}

/// Calls `body` with a NULL-terminated array of C strings that are valid during the call.
func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
    pointers.append(nil)
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers)
}

extension Duration {
    /// For poll(2): rounded up, so that the deadline has passed when the call returns.
    package var pollMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: max(0, milliseconds))
    }
}
