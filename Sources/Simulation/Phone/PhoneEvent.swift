import BackgroundDelivery
import Foundation
import HealthModel

/// What happens to a phone.
package enum PhoneEvent: Sendable, Equatable {
    /// Samples reach the phone's health store, and others are deleted from it.
    case arrive(added: [LifeSample], deleted: [SampleID])
    case lock, unlock
    case charging(Bool)
    case battery(Double)
    case lowPower(Bool)
    case sleepFocus(Bool)
    /// Any other Focus.
    case focus(Bool)
    /// Heat and load, 0 to 1.
    case load(Double)
    case network(NetworkPath)
    case openApp, closeApp
    /// The system ends the app to free its memory.
    case terminateApp
    case forceQuit
    case reboot
    /// How far the wall clock is off from true time.
    case clock(Duration)
}

/// An event, and when it happens in true time.
package struct TimedEvent: Sendable, Equatable {
    package var at: Instant
    package var event: PhoneEvent

    package init(_ at: Instant, _ event: PhoneEvent) { (self.at, self.event) = (at, event) }
}

extension SimulatedRandom {
    /// A separate stream for each seed, subject and number, so that an extra draw in one place changes nothing
    /// elsewhere.
    package init(seed: UInt64, subject: UInt64, number: Int = 0) {
        self.init(
            seed: seed &* 0x9FB2_1C65_1E98_DF25 &+ subject &* 0xD1B5_4A32_D192_ED03
                &+ UInt64(bitPattern: Int64(number)) &* 0x8CB9_2BA7_2F3D_8DD7)
        for _ in 0..<2 { _ = next() }
    }

    package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
    package mutating func uniform(_ low: Double, _ high: Double) -> Double { low + (high - low) * unit() }
    package mutating func chance(_ probability: Double) -> Bool { unit() < probability }
    package mutating func seconds(_ low: Double, _ high: Double) -> Duration {
        .seconds(Int64(uniform(low, high)))
    }
    /// A random waiting time for something that may happen at any moment.
    package mutating func exponential(mean: Double) -> Double { -mean * log(1 - unit()) }
    /// How many times something happens on a given day if it happens `perDay` times on average.
    package mutating func times(_ perDay: Double) -> Int {
        Int(perDay) + (chance(perDay - perDay.rounded(.down)) ? 1 : 0)
    }
    package mutating func instant(in range: Range<Instant>) -> Instant {
        Instant(microseconds: Int64.random(in: range.microseconds, using: &self))
    }
    package mutating func index(_ count: Int) -> Int { Int((next() >> 33) % UInt64(count)) }
    package mutating func id() -> SampleID {
        SampleID(
            high: next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000, low: next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }
}
