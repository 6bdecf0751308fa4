import Simulation

/// Something that goes wrong, or is done at a bad moment.
struct Fault: Equatable, CustomStringConvertible {
    /// What phones and exports do wrong is in the `PhoneScript`, and in every run.
    enum Family: String, CaseIterable {
        case messages, partition, crash, operation, backup, clock, disk, power, damage, answers, destination, background
    }

    enum Mishap: Equatable {
        // For some seconds, with a probability.
        case lose(Double), double(Double), delay(Double), slow(Double), die(Double), misanswer(Double)
        // For some seconds.
        case cut(Int, Int), stop(Int), takeOver(Int), noToken
        // At once.
        case kill(Int), killAll
        case swap(Int), reset(Int), replay(Int)
        case backup, restore
        case jump(hours: Int), sleep(minutes: Int)
        case disk(Int, FaultyDisk.Failure, after: Int, times: Int)
        case losePower, lie(Int)
        case olderCopy(Int), wipe(Int), flip(Int)
        case forget, rollBack, forgetOther, rollBackOther
        // The app and the phone, for some seconds; and a sync of one handler's types.
        case app(String), lock, sync(Int)
    }

    /// Seconds since the start.
    var at: Double
    /// How long it lasts.
    var seconds = 0.0
    var mishap: Mishap

    var family: Family {
        switch mishap {
        case .lose, .double, .delay, .slow: .messages
        case .cut, .stop: .partition
        case .die, .kill, .killAll: .crash
        case .swap, .takeOver, .reset, .replay: .operation
        case .backup, .restore: .backup
        case .jump, .sleep: .clock
        case .disk: .disk
        case .losePower, .lie: .power
        case .olderCopy, .wipe, .flip: .damage
        case .misanswer, .noToken: .answers
        case .forget, .rollBack, .forgetOther, .rollBackOther: .destination
        case .app, .lock, .sync: .background
        }
    }

    var description: String {
        "\((at * 10).rounded() / 10) s: \(mishap)" + (seconds > 0 ? " for \((seconds * 10).rounded() / 10) s" : "")
    }
}

extension Fault {
    /// - Parameter hosts: how many processes there are.
    static func random(
        _ family: Family, at: Double, hosts: Int, using random: inout SimulatedRandom
    ) -> Fault {
        func chance(_ most: Double) -> Double { most * Double(Int.random(in: 1...4, using: &random)) / 4 }
        func host() -> Int { Int.random(in: 0..<hosts, using: &random) }
        // A store that others derive theirs from matters most.
        func source() -> Int { Int.random(in: 0..<3, using: &random) == 0 ? FaultPlan.observer : host() }
        func one(_ choices: [Mishap]) -> Mishap { choices[Int.random(in: 0..<choices.count, using: &random)] }
        let seconds = Double(Int.random(in: 5...80, using: &random)) / 10
        switch family {
        case .messages:
            return Fault(
                at: at, seconds: seconds,
                mishap: one([.lose(chance(1)), .double(chance(0.6)), .delay(chance(0.8)), .slow(chance(1))]))
        case .partition:
            return Fault(at: at, seconds: seconds, mishap: one([.cut(host(), host()), .stop(host())]))
        case .crash:
            return Int.random(in: 0..<3, using: &random) == 0
                ? Fault(at: at, seconds: seconds, mishap: .die(chance(0.2)))
                : Fault(at: at, mishap: one([.kill(host()), .kill(host()), .killAll]))
        case .operation:
            let handler = Int.random(in: FaultPlan.handlers, using: &random)
            if Int.random(in: 0..<4, using: &random) == 0 {
                return Fault(at: at, seconds: seconds / 8, mishap: .takeOver(host()))
            }
            return Fault(at: at, mishap: one([.swap(handler), .reset(host()), .replay(host())]))
        case .backup: return Fault(at: at, mishap: one([.backup, .restore]))
        case .clock:
            return Fault(
                at: at,
                mishap: one([
                    .jump(hours: Int.random(in: -900...900, using: &random)),
                    .jump(hours: Int.random(in: -20000...20000, using: &random)),
                    .sleep(minutes: Int.random(in: 1...40, using: &random)),
                ]))
        case .disk:
            let failures = FaultyDisk.Failure.allCases
            let failure = failures[Int.random(in: 0..<failures.count, using: &random)]
            return Fault(
                at: at, seconds: seconds,
                mishap: .disk(
                    host(), failure, after: Int.random(in: 0...60, using: &random),
                    times: [1, 1, 3, -1][Int.random(in: 0...3, using: &random)]))
        case .power: return Fault(at: at, mishap: one([.losePower, .losePower, .lie(host())]))
        case .damage: return Fault(at: at, mishap: one([.olderCopy(source()), .wipe(source()), .flip(source())]))
        case .answers:
            return Fault(
                at: at, seconds: seconds, mishap: one([.misanswer(chance(1)), .misanswer(chance(0.5)), .noToken]))
        case .destination: return Fault(at: at, mishap: one([.forget, .rollBack, .forgetOther, .rollBackOther]))
        case .background:
            let handler = Int.random(in: FaultPlan.handlers, using: &random)
            return Fault(
                at: at, seconds: seconds,
                mishap: one([
                    .app("background"), .app("background"), .app("terminated"), .app("forceQuit"), .lock,
                    .sync(handler), .sync(handler),
                ]))
        }
    }
}
