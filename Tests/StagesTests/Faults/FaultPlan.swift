import Foundation
import HealthModel
import Simulation

/// All that one run does, from numbers: a seed, and the variations made of it, one after the other. The same numbers are
/// always the same plan.
struct FaultPlan {
    /// The seed, then the number of each variation: 17.3.8.
    let lineage: [UInt64]
    private(set) var faults: [Fault] = []
    /// Which of the faults are left, if only some are.
    private(set) var places: [Int]?
    /// For the world's own random numbers.
    private(set) var chance: UInt64
    /// Seconds until nothing goes wrong any more.
    let length: Double

    static let least = 20
    static let hosts = 10
    static let observer = 0
    /// Which of the processes are handlers.
    static let handlers = 2...6

    /// Several seeds share what phones and people send.
    var script: UInt64 { (lineage.first ?? 0) / 8 }
    /// "17.18" for seed 17 varied by 18; "17.18@3,5" for its faults 3 and 5 alone.
    var name: String {
        lineage.map(String.init).joined(separator: ".")
            + (places.map { "@" + $0.map(String.init).joined(separator: ",") } ?? "")
    }

    init(name: String) {
        let parts = name.split(separator: "@", omittingEmptySubsequences: false)
        self.init(parts[0].split(separator: ".").compactMap { UInt64($0) })
        if parts.count > 1 { self = FaultPlan(self, keeping: parts[1].split(separator: ",").compactMap { Int($0) }) }
    }

    init(_ lineage: [UInt64]) {
        self.lineage = lineage
        places = nil
        let seed = lineage.first ?? 0
        var random = SimulatedRandom(seed: seed &* 6_364_136_223_846_793_005 &+ 17)
        chance = random.next()
        length = Double(Int.random(in: 15...45, using: &random))
        // Each seed has some families, among them a crash, a disk's error, and a swap.
        var families = Fault.Family.allCases.shuffled(using: &random).prefix(Int.random(in: 5...10, using: &random))
        for needed in [Fault.Family.crash, .disk] where !families.contains(needed) { families.append(needed) }
        let count = Int.random(in: Self.least...Self.least + 16, using: &random)
        for place in 0..<count {
            let family = families[families.startIndex + place % families.count]
            add(family, using: &random)
        }
        let at = Double.random(in: 0..<length, using: &random)
        faults.append(Fault(at: at, mishap: .swap(Int.random(in: Self.handlers, using: &random))))
        for variation in lineage.dropFirst() { vary(by: variation) }
        sort()
    }

    /// A plan with some of another's faults, to find the few that matter.
    /// - Parameter places: which of the faults of the whole plan.
    init(_ other: FaultPlan, keeping places: [Int]) {
        (lineage, chance, length) = (other.lineage, other.chance, other.length)
        let whole = FaultPlan(lineage).faults
        self.places = places.filter(whole.indices.contains)
        faults = self.places?.map { whole[$0] } ?? []
    }

    private mutating func sort() { faults.sort { $0.at < $1.at } }

    private mutating func add(_ family: Fault.Family, using random: inout SimulatedRandom) {
        var at = Double.random(in: 0..<length, using: &random)
        // What breaks things is mostly what happens at once.
        if let near = faults.randomElement(using: &random), Bool.random(using: &random) {
            at = min(length, max(0, near.at + Double.random(in: -0.5..<2, using: &random)))
        }
        faults.append(.random(family, at: at, hosts: Self.hosts, using: &random))
    }

    /// Keeps most of the plan, and changes some.
    private mutating func vary(by number: UInt64) {
        var random = SimulatedRandom(seed: number &* 2_862_933_555_777_941_757 &+ chance)
        if Bool.random(using: &random) { chance = random.next() }
        for index in faults.indices where Int.random(in: 0..<4, using: &random) == 0 {
            faults[index].at = min(length, max(0, faults[index].at + Double.random(in: -2..<2, using: &random)))
        }
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let family = Fault.Family.allCases.randomElement(using: &random) ?? .crash
            add(family, using: &random)
        }
    }
}
