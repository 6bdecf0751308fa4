import HealthModel
import Protocol

/// A page of samples as the observer sends it to a consumer named `bench`.
enum SampleMessage {
    /// - Parameter bytes: the approximate size of all frames together; the page gets as many rows as fit.
    static func frames(bytes: Int) -> [[UInt8]] {
        let names = frames(of: 0).reduce(0) { $0 + $1.count }
        let row = (frames(of: 100).reduce(0) { $0 + $1.count } - names) / 100
        return frames(of: max(0, bytes - names) / row)
    }

    private static func frames(of rows: Int) -> [[UInt8]] {
        let content = SamplesPage(
            samples: MadePage.page(rows: rows), users: ["me"], user: [Int32](repeating: 0, count: rows))
        return Message(
            topic: "page.bench", header: .init(from: "observer", at: Instant(microseconds: 1_743_800_000_000_000)),
            body: Value(content)
        ).frames
    }
}
