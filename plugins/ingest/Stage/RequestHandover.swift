import HealthModel
import Protocol

/// A request on its way to the observer: which part is said next, what a receipt means, and when to give up. Pure.
package struct RequestHandover {
    /// How long until a part is sent again, until that part is given up, and until the whole request is given up.
    package struct Pace: Sendable {
        package var repeatAfter = Duration.milliseconds(500)
        /// A request with many parts continues while they are being answered.
        package var patience = Duration.seconds(15)
        /// Shorter than a proxy's timeout.
        package var longest = Duration.seconds(120)

        package init() {}
    }

    package enum Step {
        /// The parts are to be made under a new id; see `begin`.
        case begin
        /// A part is to be sent; its receipt may take this long.
        case send(IngestPart, Duration)
        /// The receipts, in the parts' order.
        case done([IngestReceipt])
        case failed(ObserverLine.Failure)
    }

    private let pace: Pace
    private let deadline: MonotonicTime
    /// nil until they are made, and again when the request must begin again.
    private var parts: [IngestPart]?
    private var receipts: [IngestReceipt] = []
    private var partDeadline = MonotonicTime.distantPast
    private var failure: ObserverLine.Failure?

    package init(_ pace: Pace, at now: MonotonicTime) {
        self.pace = pace
        deadline = now + pace.longest
    }

    /// Asked again whenever a receipt was taken, or none came in time.
    package func step(at now: MonotonicTime) -> Step {
        if let failure { return .failed(failure) }
        guard let parts else { return .begin }
        guard receipts.count < parts.count else { return .done(receipts) }
        guard now < partDeadline else { return .failed(.silent) }
        return .send(parts[receipts.count], min(pace.repeatAfter, partDeadline - now))
    }

    /// - Parameter parts: all have the same id, which no request had before.
    package mutating func begin(_ parts: [IngestPart], at now: MonotonicTime) {
        (self.parts, receipts) = (parts, [])
        partDeadline = min(deadline, now + pace.patience)
    }

    /// An answer to a different part, which was sent twice, is ignored.
    /// - Returns: whether it wasn't.
    @discardableResult
    package mutating func take(_ receipt: IngestReceipt, at now: MonotonicTime) -> Bool {
        guard let parts, receipts.count < parts.count, receipt.id == parts[receipts.count].id,
            receipt.part == parts[receipts.count].number
        else { return false }
        if receipt.beginAgain == true {
            self.parts = nil
            if now >= deadline { failure = .silent }
        } else if let reason = receipt.refused {
            failure = .refused(reason)
        } else {
            receipts.append(receipt)
            partDeadline = min(deadline, now + pace.patience)
        }
        return true
    }
}
