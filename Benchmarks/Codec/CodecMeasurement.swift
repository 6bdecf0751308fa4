import Foundation
import HealthModel
import Protocol

/// Measures how many samples per second of processor time can be encoded, from columns to a message's frames, and
/// decoded again. Pages hold 4,096 samples.
struct CodecMeasurement {
    private static let rows = 4096
    /// Rates are measured in slices of this many pages, so that a slice disturbed by other load stands out.
    private static let slice = 64

    let bytes: Int
    /// Samples per second, measured slice by slice.
    private(set) var encode: [Double] = []
    private(set) var decode: [Double] = []

    /// - Parameter seconds: processor time for encoding; decoding runs as many slices.
    /// - Throws: `Mistake` when decoding doesn't give back what was encoded.
    init(seconds: Double) throws {
        let page = MadePage.page(rows: Self.rows)
        let content = SamplesPage(samples: page, users: ["me"], user: [Int32](repeating: 0, count: Self.rows))
        let frames = Self.frames(content)
        bytes = frames.reduce(0) { $0 + $1.count }
        let read = try Self.content(frames)
        guard read.samples.ids == page.ids, read.samples.value == page.value, read.samples.unit == page.unit,
            read.samples.start == page.start, read.user == content.user
        else { throw Mistake("a page doesn't come back as it was coded") }
        while encode.reduce(0, { $0 + Double(Self.slice * Self.rows) / $1 }) < seconds {
            // Encoding and decoding alternate, so that a disturbance affects both.
            try encode.append(
                Self.rate {
                    let frames = Self.frames(content)
                    guard frames[2].count < bytes else { throw Mistake("a page is coded as \(frames[2].count) bytes") }
                })
            try decode.append(
                Self.rate {
                    let read = try Self.content(frames)
                    guard read.samples.count == Self.rows else { throw Mistake("a page has lost rows") }
                })
        }
    }

    private static func frames(_ content: SamplesPage) -> [[UInt8]] {
        Message(
            topic: "page.bench", header: .init(from: "observer", at: Instant(microseconds: 1_743_800_000_000_000)),
            body: Value(content)
        ).frames
    }

    private static func content(_ frames: [[UInt8]]) throws -> SamplesPage {
        try Message(frames: frames).body.page(SamplesPage.self, from: "observer")
    }

    /// Runs one slice and returns its samples per second of this thread's processor time.
    private static func rate(_ code: () throws -> Void) rethrows -> Double {
        let before = processorSeconds()
        for _ in 0..<slice { try code() }
        return Double(slice * rows) / (processorSeconds() - before)
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    var json: String {
        func list(_ rates: [Double]) -> String { rates.map { String(Int($0)) }.joined(separator: ", ") }
        return
            "{\"rows\": \(Self.rows), \"bytes\": \(bytes), \"encode\": [\(list(encode))], \"decode\": [\(list(decode))]}"
    }
}
