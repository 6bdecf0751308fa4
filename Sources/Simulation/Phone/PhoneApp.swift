import HealthModel

/// The app on a simulated phone: the phone gives it samples and time, and it delivers what it can.
protocol PhoneApp: AnyObject {
    /// The phone that the app belongs to; its `device` says what the app may do.
    var phone: Phone? { get set }
    /// Whether it is still working on something.
    var isBusy: Bool { get }
    /// Called before anything happens.
    func install() throws
    /// Called when samples have reached the phone's health store or were deleted from it.
    func arrive(_ added: [LifeSample], deleted: [SampleID]) throws
    /// Called when the phone's `device` has changed.
    func deviceChanged() throws
    /// Called when the app has appeared on the screen.
    func open() throws
    /// Called when the app is given time in the background, which lasts until the app ends its run or is stopped.
    func wake(_ kind: WakeKind) throws
    /// Called when the app's time is over; the app stays in memory.
    func rest() throws
    /// Called when the app's process is gone.
    func end() throws
    /// Called when the phone restarts: everything in memory is gone.
    func reboot() throws
    func setClock(offBy offset: Duration)
    /// When each sample first arrived at the backend.
    var arrivals: [SampleID: Instant] { get }
    /// The samples that the backend holds, and how often each occurs.
    var alive: [SampleID: Int] { get }
    /// How many elements were sent again although the backend had them.
    var repeated: Int { get }
}

// What an app without processes of its own does.
extension PhoneApp {
    var isBusy: Bool { false }
    var repeated: Int { 0 }
    func install() {}
    func deviceChanged() {}
    func rest() {}
    func end() {}
    func reboot() {}
    func setClock(offBy offset: Duration) {}
}
