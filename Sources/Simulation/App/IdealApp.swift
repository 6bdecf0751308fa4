import BackgroundDelivery
import HealthModel

/// An app that delivers everything it can read as soon as it gets time, so a strategy's result depends only on the
/// phone. It is cheap enough to simulate many lives.
final class IdealApp: PhoneApp {
    weak var phone: Phone?
    private(set) var arrivals: [SampleID: Instant] = [:]
    private var waiting: [SampleID] = []
    private var waitingDeletions: [SampleID] = []
    private var gone: Set<SampleID> = []

    var alive: [SampleID: Int] { arrivals.filter { !gone.contains($0.key) }.mapValues { _ in 1 } }

    func arrive(_ added: [LifeSample], deleted: [SampleID]) {
        waiting += added.map(\.uuid)
        waitingDeletions += deleted
        if phone?.device.app == .active { deliver() }
    }

    func deviceChanged() { if phone?.device.app == .active { deliver() } }
    func open() { deliver() }

    func wake(_ kind: WakeKind) {
        guard let phone else { return }
        // A wake that only notes what has changed delivers nothing.
        if phone.strategy != .notify { deliver() }
        phone.endRunAsUsual()
    }

    private func deliver() {
        guard let phone, !phone.device.isLocked, phone.isOnline, !(waiting.isEmpty && waitingDeletions.isEmpty) else {
            return
        }
        let now = phone.now
        for uuid in waiting { arrivals[uuid] = now }
        gone.formUnion(waitingDeletions)
        waiting.removeAll(keepingCapacity: true)
        waitingDeletions.removeAll(keepingCapacity: true)
    }
}
