import Clocks
import Dispatch
import HealthModel
import Protocol
import Synchronization

/// The line to the observer: says a request's parts, one after the other, and waits for what became of each. A message may get lost, so a part is said
/// again until it is answered; the observer knows what it has answered before.
///
/// Keeps nothing: what isn't answered is the sender's to send again.
package final class ObserverLine: Sendable {
    /// Why a request couldn't be handed over.
    package enum Failure: Error, Equatable {
        /// The observer doesn't answer. What it did take in, it will know when the request comes again.
        case silent
        /// It takes nothing in at present.
        case refused(String)
    }

    private struct Waiting {
        var receipt: IngestReceipt?
        let arrived = DispatchSemaphore(value: 0)
    }

    private let say: @Sendable (IngestPart) -> Void
    /// By request and part.
    private let waiting = Mutex<[String: Waiting]>([:])

    /// Between two times that a part is said, and until a request is given up.
    private let repeatAfter: Duration
    private let patience: Duration

    /// - Parameter say: sends a part to the observer; may lose it.
    package init(
        repeatAfter: Duration = .milliseconds(500), patience: Duration = .seconds(15),
        say: @escaping @Sendable (IngestPart) -> Void
    ) {
        self.repeatAfter = repeatAfter
        self.patience = patience
        self.say = say
    }

    /// Takes what the observer says. Any thread may call it.
    package func hear(_ receipt: IngestReceipt) {
        waiting.withLock { waiting in
            guard waiting[receipt.id]?.receipt == nil else { return }
            waiting[receipt.id]?.receipt = receipt
            waiting[receipt.id]?.arrived.signal()
        }
    }

    /// Hands a request's parts over, and waits.
    /// - Parameter make: gives the parts, under the id that it is given.
    /// - Returns: the receipts, in the parts' order: all is durable.
    func submit(_ make: (_ id: String) -> [IngestPart]) throws(Failure) -> [IngestReceipt] {
        let deadline = MonotonicClock.now + patience
        while true {
            let id = Self.nonce()
            let parts = make(id)
            var receipts: [IngestReceipt] = []
            for part in parts {
                let receipt = try submit(part, by: deadline)
                if receipt.beginAgain == true { break }
                if let reason = receipt.refused { throw .refused(reason) }
                receipts.append(receipt)
            }
            if receipts.count == parts.count { return receipts }
            guard MonotonicClock.now < deadline else { throw .silent }
        }
    }

    private func submit(_ part: IngestPart, by deadline: MonotonicTime) throws(Failure) -> IngestReceipt {
        let key = part.id
        let arrived = waiting.withLock { waiting in
            let entry = Waiting()
            waiting[key] = entry
            return entry.arrived
        }
        defer { waiting.withLock { $0[key] = nil } }
        while MonotonicClock.now < deadline {
            say(part)
            _ = arrived.wait(timeout: .now() + min(repeatAfter, deadline - MonotonicClock.now).seconds)
            let receipt = waiting.withLock { waiting -> IngestReceipt? in
                guard let receipt = waiting[key]?.receipt else { return nil }
                // Of the part before, said twice.
                if receipt.part != part.number { waiting[key]?.receipt = nil }
                return receipt.part == part.number ? receipt : nil
            }
            if let receipt { return receipt }
        }
        throw .silent
    }

    private static func nonce() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }
}
