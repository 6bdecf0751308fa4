import BackgroundDelivery
import HealthModel

/// The baseline's app: no anchors, no stages.
final class NaiveApp: PhoneApp {
    weak var phone: Phone?
    private var sync = NaiveSync()

    var arrivals: [SampleID: Instant] { sync.arrivals }
    var alive: [SampleID: Int] { sync.alive }

    func arrive(_ added: [LifeSample], deleted: [SampleID]) {
        guard let phone else { return }
        sync.arrive(added: added, deleted: deleted, at: phone.now)
        if phone.device.app == .active { send() }
    }

    func open() { send() }

    func wake(_ kind: WakeKind) {
        send()
        phone?.endRunAsUsual()
    }

    private func send() {
        guard let phone else { return }
        sync.wake(at: phone.now, isOnline: phone.isOnline)
    }
}
