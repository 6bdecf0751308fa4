/// The sources of samples. Their names are written as in the Health app, with the typographic apostrophe and the
/// no-break space of real ones.
enum RecordSource: Int, CaseIterable, Sendable {
    case watch, phone, scale, byHand, meditation
    // Only in messy lives.
    case band, ring, strap, nights, runs

    private func name(isRenamed: Bool) -> String {
        switch self {
        case .watch: isRenamed ? "Sam’s Apple\u{00A0}Watch" : "Robin’s Apple\u{00A0}Watch"
        case .phone: isRenamed ? "Sam’s iPhone" : "Robin’s iPhone"
        case .scale: "Balance Scale"
        case .byHand: "Health"
        case .meditation: "Stillness"
        case .band: "Stride Band"
        case .ring: "Halo Ring"
        case .strap: "Chest Strap"
        case .nights: "Night Diary"
        case .runs: "Run Diary"
        }
    }

    private var version: String {
        switch self {
        case .watch: "11.3.1"
        case .phone: "18.3.2"
        case .scale: "6210403"
        case .byHand: "18.3.2"
        case .meditation: "4.2"
        case .band, .ring, .strap: "2.0"
        case .nights, .runs: "7.1"
        }
    }

    private var device: String? {
        switch self {
        case .watch: "name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:11.3.1"
        case .phone: "name:iPhone, manufacturer:Apple Inc., model:iPhone, hardware:iPhone14,5, software:18.3.2"
        case .scale: "name:Balance Scale, manufacturer:Balance, model:BS-440, hardware:2.1, software:1871"
        case .byHand, .meditation, .band, .ring, .strap, .nights, .runs: nil
        }
    }

    /// ` sourceName="…" sourceVersion="…" device="…"`; the device has an address that differs in every export, as in
    /// real ones.
    func attributes(_ export: ExportLook) -> String {
        var text = " sourceName=\"\(name(isRenamed: export.isRenamed))\" sourceVersion=\"\(version)\""
        if let device {
            let pointer =
                "0x" + String(0x3_0000_0000 + (export.address &+ UInt64(rawValue) &* 0x1_4F20) & 0xFFFF_FFF0, radix: 16)
            text += " device=\"&lt;&lt;HKDevice: \(pointer)&gt;, \(device)&gt;\""
        }
        return text
    }
}

/// A quantity's unit as exports print it in either system, and how many canonical units it equals.
struct PrintedUnit {
    let name: String
    let canonical: Double

    static func of(_ kind: Kind, _ system: UnitSystem) -> PrintedUnit {
        let (metric, imperial): ((String, Double), (String, Double)) =
            switch kind {
            case .plain(let unit): ((unit, 1), (unit, 1))
            case .distance: (("km", 1000), ("mi", 1609.344))
            case .energy: (("kcal", 1), ("Cal", 1))
            case .mass: (("kg", 1), ("lb", 0.45359237))
            case .height: (("cm", 0.01), ("ft", 0.3048))
            case .step: (("cm", 0.01), ("in", 0.0254))
            case .speed: (("km/hr", 1 / 3.6), ("mi/hr", 0.44704))
            }
        let (name, canonical) = system == .metric ? metric : imperial
        return PrintedUnit(name: name, canonical: canonical)
    }

    enum Kind: Sendable {
        case plain(String)
        case distance, energy, mass, height, step, speed
    }
}
