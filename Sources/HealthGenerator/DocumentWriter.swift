import HealthModel

/// What one export prints everywhere.
struct ExportLook: Sendable {
    let system: UnitSystem
    /// The memory address of devices, other in every export.
    let address: UInt64
    /// Whether the owner has renamed the devices since an earlier export.
    let isRenamed: Bool
}

/// Writes export.xml in the order of real exports: records by type and time, then correlations, workouts and ring
/// summaries.
struct DocumentWriter {
    private let options: ExportGenerator.Options
    private let streams: [RecordStream]
    private let counts: RecordCounts
    private let life: Life
    private let zones: ZoneTimeline
    private let exported: Int64
    private let until: Int64
    private let look: ExportLook
    private let workouts: WorkoutWriter

    init(_ generator: ExportGenerator, _ life: Life, exported: Int64) {
        options = generator.options
        zones = generator.zones
        // What an app stores late is missing from the exports before.
        until = options.isMessy ? exported : generator.options.now?.flooredSecond ?? .max
        streams = options.isMessy ? Mess.streams : RecordStream.ordinary
        counts = RecordCounts(life, streams, records: options.records)
        (self.life, self.exported) = (life, exported)
        var random = SeededRandom(
            seed: options.seed, subject: options.unitSystem == .metric ? 3000 : 3001, day: Int(exported))
        look = ExportLook(
            system: options.unitSystem, address: random.bits() & 0xFFFF_FFF0,
            isRenamed: options.isMessy && Mess.isRenamed(options.end))
        workouts = WorkoutWriter(person: life.person, zones: zones, export: look)
    }

    func write(
        _ text: inout ExportText, _ result: inout ExportGenerator.Result, _ progress: (Int, Int) -> Void
    ) {
        head(&text)
        if counts.hasHeight { height(&text) }
        let rings = RingLedger(life.plans)
        for (stream, share) in zip(streams, counts.shares) {
            write(stream, share, rings, &text)
            progress(text.records, counts.total)
        }
        readings(&text, &result)
        result.records = text.records
        for plan in life.plans {
            if plan.workout(storedBy: until) != nil {
                workouts.write(plan, &text)
                result.workouts += 1
            }
            if options.isMessy { result.workouts += workouts.writeMess(plan, until: until, &text) }
            text.flushIfLarge()
        }
        for (plan, rings) in zip(life.plans, rings.close()) {
            summary(plan.day, rings, &text)
            text.flushIfLarge()
        }
        text.append("</HealthData>\n")
        progress(text.records, counts.total)
    }

    private func write(
        _ stream: RecordStream, _ share: RecordCounts.Share, _ rings: RingLedger, _ text: inout ExportText
    ) {
        var share = share
        let writer = RecordWriter(stream, of: life.person, in: look, until: until, rings: rings)
        let condensed = options.end.adding(days: -Mess.daysUntilCondensed)
        for (index, plan) in life.plans.enumerated() {
            rings.day = index
            let count = share.next(stream.records(on: plan, life.person))
            guard count > 0 else { continue }
            var random = SeededRandom(seed: options.seed, subject: stream.subject, day: plan.day.number)
            writer.write(
                count, plan, zone: zones.zone(at: Instant(seconds: plan.wake)),
                isCondensed: options.isMessy && stream.source == .watch && plan.day < condensed, &random, &text)
        }
    }

    private func head(_ text: inout ExportText) {
        text.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" as StaticString)
        text.append(DocumentType.text)
        text.append(
            "<HealthData locale=\"\(options.unitSystem == .metric ? "en_DE" : "en_US")\""
                + (options.isMarked ? " \(ExportMark.attribute)=\"\(ExportMark.madeUp)\"" : "")
                + ">\n <ExportDate value=\"")
        text.append(date: exported)
        let me = [
            ("DateOfBirth", "\(life.person.birth)"), ("BiologicalSex", "HKBiologicalSexNotSet"),
            ("BloodType", "HKBloodTypeNotSet"),
            ("FitzpatrickSkinType", "HKFitzpatrickSkinTypeNotSet"), ("CardioFitnessMedicationsUse", "None"),
        ]
        text.append("\"/>\n <Me")
        for (name, value) in me { text.append(" HKCharacteristicTypeIdentifier\(name)=\"\(value)\"") }
        text.append("/>\n")
    }

    private func height(_ text: inout ExportText) {
        guard let first = life.plans.first else { return }
        let writer = RecordWriter(.height, of: life.person, in: look, until: until)
        writer.write(first.wake + 7200, first.wake + 7200, stored: first.wake + 7201, life.person.heightMeters, &text)
    }

    /// Writes blood pressure entered by hand: both values at top level, then the correlations that repeat them.
    private func readings(_ text: inout ExportText, _ result: inout ExportGenerator.Result) {
        let parts = [("Systolic", 118.0, 7.0), ("Diastolic", 76.0, 5.0)]
        let writers = parts.map { name, mean, deviation in
            let stream = RecordStream.quantity(
                "BloodPressure" + name, .byHand, .plain("mmHg"), .daily(0, isFixed: true), .bodyMass,
                [("HKWasUserEntered", "1")])
            return (
                RecordWriter(stream, of: life.person, in: look, until: until),
                RecordWriter(stream, of: life.person, in: look, until: until, indent: "  "),
                (mean, deviation)
            )
        }
        for subject in 0..<2 {
            eachReading { plan, moment, random in
                let values = writers.map { random.normal($0.2.0, $0.2.1).rounded() }
                writers[subject].0.write(moment, moment, stored: moment + 1, values[subject], &text)
                text.flushIfLarge()
            }
        }
        let source = RecordSource.byHand.attributes(look)
        eachReading { plan, moment, random in
            let values = writers.map { random.normal($0.2.0, $0.2.1).rounded() }
            text.append(" <Correlation type=\"HKCorrelationTypeIdentifierBloodPressure\"\(source)")
            text.append(stored: moment + 1, from: moment, to: moment)
            text.append(">\n  <MetadataEntry key=\"HKWasUserEntered\" value=\"1\"/>\n")
            for (writer, value) in zip(writers, values) {
                writer.1.write(moment, moment, stored: moment + 1, value, &text)
            }
            text.append(" </Correlation>\n")
            result.correlations += 1
            text.flushIfLarge()
        }
    }

    private func eachReading(_ body: (DayPlan, Int64, inout SeededRandom) -> Void) {
        for (index, plan) in life.plans.enumerated() {
            let count = counts.readings(on: plan.day, index, of: life.plans.count)
            for number in 0..<count {
                let moment = plan.wake + 2700 + Int64(number) * 1800
                guard moment < until else { continue }
                var random = SeededRandom(seed: options.seed, subject: UInt64(1500 + number), day: plan.day.number)
                body(plan, moment, &random)
            }
        }
    }

    /// The day's rings, with energy in the export's unit.
    private func summary(_ day: LocalDay, _ rings: RingLedger.Rings, _ text: inout ExportText) {
        let energy = PrintedUnit.of(.energy, options.unitSystem)
        text.append(" <ActivitySummary dateComponents=\"\(day)\" activeEnergyBurned=\"")
        text.append(number: rings.energy / energy.canonical)
        text.append("\" activeEnergyBurnedGoal=\"500\" activeEnergyBurnedUnit=\"\(energy.name)\" appleMoveTime=\"0\"")
        text.append(
            " appleMoveTimeGoal=\"0\" appleExerciseTime=\"\(Int(rings.minutes.rounded()))\" appleExerciseTimeGoal=\"30\""
        )
        text.append(" appleStandHours=\"\(rings.hours)\" appleStandHoursGoal=\"12\"/>\n")
    }
}
