import BackgroundDelivery
import HealthModel
import Protocol

/// Why a change isn't passed on yet, by the heartbeat of the instance that it waits for. Pure.
///
/// Reasons hold no counts, so that one that lasts is said once.
package enum HeldBack {
    /// Why the observer doesn't fire; nil if nothing waits to be fired.
    /// - Parameter type: nil for any type.
    static func firing(of type: String?, _ beat: Heartbeat) -> String? {
        guard let observer = beat.observer else { return nil }
        if let type, observer.off.contains(type) {
            return "the type is switched off or denied; 'healthbus types' shows which types are"
        }
        let waiting = Set((observer.fired?.exceptions ?? [:]).keys).subtracting(observer.off)
        guard type.map(waiting.contains) ?? !waiting.isEmpty else { return nil }
        if let device = device(observer) { return device }
        if let time = observer.nextWake { return "the hour's wakes are used up until \(InstantText.iso8601(time))" }
        guard observer.device.map({ $0.app == .active }) ?? true else {
            return "the app is in the background, and not due to be woken; 'healthbus types' shows how often it is"
        }
        return nil
    }

    /// What the phone's state keeps from moving, whatever the types.
    private static func device(_ observer: ObserverDetails) -> String? {
        guard let device = observer.device else { return nil }
        if device.isLocked { return "the device is locked; unlock it, or 'healthbus device reset'" }
        if device.app == .forceQuit { return "the app was force-quit; open it, or 'healthbus device reset'" }
        guard device.app != .active, device.isDeferring else { return nil }
        return "the system gives the app no background time; open it, or 'healthbus device reset'"
    }

    /// Why the debouncer releases nothing; nil if nothing waits to be released.
    static func releasing(_ beat: Heartbeat, observer: Heartbeat?) -> String? {
        guard let pending = beat.debouncer?.pending, pending > 0 else { return nil }
        if let why = waiting(beat, observer: observer) { return why }
        if observer?.observer?.importOpen == true {
            return "a file is being read, and its changes are released together"
        }
        return "its window is still open; 'healthbus sync' releases everything at once"
    }

    /// The same, but for windows, which close soon.
    static func waiting(_ beat: Heartbeat, observer: Heartbeat?) -> String? {
        guard let pending = beat.debouncer?.pending, pending > 0 else { return nil }
        if let device = observer?.observer.flatMap(device) { return device }
        // On the screen the app has time of its own: no task is needed.
        guard observer?.observer?.device.map({ $0.app != .active }) ?? false else { return nil }
        let tasks = (beat.stage.tasks ?? []).filter { $0.state == .pending && $0.waitsFor != nil }
        guard let task = tasks.first(where: { $0.obstacle != .notYet }) ?? tasks.first, let why = task.waitsFor else {
            return nil
        }
        return "the task \(task.id) waits: \(why); 'healthbus tasks launch \(task.id)' starts it"
    }

    /// Why a day isn't computed, summarized or delivered.
    static func working(_ beat: Heartbeat) -> String? {
        if let missing = beat.consolidator?.missing, !missing.isEmpty {
            return "it waits for \(missing.joined(separator: ", ")); 'healthbus doctor' says why"
        }
        if let uploader = beat.uploader {
            if let blocked = uploader.blocked { return "\(blocked); 'healthbus doctor' says what to do" }
            return uploader.path?.isSatisfied == false ? "there is no network path" : nil
        }
        if let handler = beat.handler, handler.pending > 0 { return "days are to be computed, the newest first" }
        return nil
    }

    /// Of an instance that isn't heard.
    static func silent(_ instance: String) -> String {
        "\(instance) isn't answering; 'healthbus status' shows whether it runs"
    }
}
