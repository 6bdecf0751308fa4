import Foundation
import Glibc
import HealthModel
import Logging

/// The checksum of a file of any size: the XXH3-128 of each MiB, and one over all of those.
enum FileChecksum {
    private static let piece = 1 << 20

    static func of(_ path: String, progress: (Int) -> Void = { _ in }) throws -> (bytes: Int64, checksum: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure("\(path) can't be read: \(String(cString: strerror(errno)))", hint: "check its permissions")
        }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: piece)
        var sums: [UInt8] = []
        var bytes: Int64 = 0
        while true {
            var filled = 0
            while filled < piece {
                let count = buffer.withUnsafeMutableBytes { bytes in
                    let room = UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
                    return read(descriptor, room.baseAddress, room.count)
                }
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else {
                    throw Failure("\(path) can't be read: \(String(cString: strerror(errno)))", code: .damaged)
                }
                if count == 0 { break }
                filled += count
            }
            if filled == 0 { break }
            bytes += Int64(filled)
            sums += ContentDigest(buffer.prefix(filled)).bytes
            progress(filled)
            if filled < piece { break }
        }
        return (bytes, ContentDigest(sums[...]).description)
    }
}
