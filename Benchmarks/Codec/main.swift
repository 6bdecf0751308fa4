import Foundation
import HealthModel
import Protocol

// Provides what `bench.py` needs from the project's own code: the speed of encoding and decoding pages, and messages
// like those that a hub receives.
//
//   healthbus-bench codec [SECONDS]    prints one JSON value healthbus-bench message BYTES      writes a message's
//   frames, each preceded by its length (32 bits, little-endian)

let words = Array(CommandLine.arguments.dropFirst())
do {
    switch words.first {
    case "codec":
        let seconds = words.count > 1 ? Double(words[1]) : 2
        guard let seconds, seconds > 0 else { throw Mistake("SECONDS is a number above 0") }
        print(try CodecMeasurement(seconds: seconds).json)
    case "message":
        guard words.count == 2, let bytes = Int(words[1]), (200...Message.maximumFrame).contains(bytes) else {
            throw Mistake("BYTES is a number from 200 to \(Message.maximumFrame)")
        }
        for frame in SampleMessage.frames(bytes: bytes) {
            withUnsafeBytes(of: UInt32(frame.count).littleEndian) { FileHandle.standardOutput.write(Data($0)) }
            FileHandle.standardOutput.write(Data(frame))
        }
    default: throw Mistake("usage: healthbus-bench codec [SECONDS] | message BYTES")
    }
} catch {
    FileHandle.standardError.write(Data("healthbus-bench: \(error)\n".utf8))
    exit(error is Mistake ? 2 : 1)
}

/// The program was called incorrectly, or its measurement is implausible.
struct Mistake: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
