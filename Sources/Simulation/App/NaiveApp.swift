import BackgroundDelivery
import HealthModel

/// The baseline's app: no anchors, no stages.
final class NaiveApp: PhoneApp {
    weak var phone: Phone?
    private var sync = NaiveSync()

    var isBusy: Bool { false }
    var arrivals: [SampleID: Instant] { sync.arrivals }
    var alive: [SampleID: Int] { sync.alive }
    var repeated: Int { 0 }

    func arrive(_ added: [LifeSample], deleted: [SampleID]) {
        guard let phone else { return }
        sync.arrive(added: added, deleted: deleted, at: phone.now)
        if phone.device.app == .active { send() }
    }

    func open() { send() }

    func wake(_ kind: WakeKind) {
        guard let phone else { return }
        send()
        let number = phone.runs
        phone.at(phone.now + phone.model.seconds(.usualSeconds)) { [unowned phone] in
            if phone.run?.number == number { try phone.endRun() }
        }
    }

    private func send() {
        guard let phone else { return }
        sync.wake(at: phone.now, isOnline: phone.isOnline)
    }

    func install() {}
    func deviceChanged() {}
    func rest() {}
    func end() {}
    func reboot() {}
    func setClock(offBy offset: Duration) {}
}
