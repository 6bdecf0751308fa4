import HealthModel

/// Writes export.xml in the order of real exports: records by type and time, then correlations, workouts and ring
/// summaries.
struct DocumentWriter {
    private let options: ExportGenerator.Options
    private let counts: RecordCounts
    private let life: Life
    private let exported: Int64
    private let address: UInt64
    private let until: Int64
    let workouts: WorkoutWriter

    init(_ generator: ExportGenerator, _ life: Life, exported: Int64) {
        options = generator.options
        until = generator.options.now?.flooredSecond ?? .max
        counts = generator.counts
        self.life = life
        self.exported = exported
        var random = SeededRandom(
            seed: options.seed, subject: options.unitSystem == .metric ? 3000 : 3001, day: Int(exported))
        address = random.bits() & 0xFFFF_FFF0
        workouts = WorkoutWriter(system: options.unitSystem, zone: options.zone, address: address)
    }

    mutating func write(
        _ text: inout ExportText, _ result: inout ExportGenerator.Result, _ progress: (Int, Int) -> Void
    ) {
        head(&text)
        let total = counts.total(of: life.plans)
        if counts.hasHeight {
            height(&text)
        }
        let rings = RingLedger(life.plans)
        for (subject, stream) in RecordStream.all.enumerated() {
            let writer = RecordWriter(stream, system: options.unitSystem, address: address, until: until, rings: rings)
            for (index, plan) in life.plans.enumerated() {
                rings.day = index
                let count = counts.records(of: subject, on: plan.day, index, of: life.plans.count)
                var random = SeededRandom(seed: options.seed, subject: UInt64(subject + 1), day: plan.day.number)
                writer.write(count, plan, zone: options.zone, &random, &text)
            }
            progress(text.records, total)
        }
        readings(&text, &result)
        result.records = text.records
        for plan in life.plans where plan.workout(storedBy: until) != nil {
            var random = SeededRandom(seed: options.seed, subject: 1000, day: plan.day.number)
            workouts.write(plan, &random, &text)
            result.workouts += 1
            text.flushIfLarge()
        }
        for (plan, rings) in zip(life.plans, rings.close()) {
            summary(plan.day, rings, &text)
            text.flushIfLarge()
        }
        text.append("</HealthData>\n")
        progress(text.records, total)
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
            ("DateOfBirth", "1986-05-17"), ("BiologicalSex", "HKBiologicalSexNotSet"),
            ("BloodType", "HKBloodTypeNotSet"),
            ("FitzpatrickSkinType", "HKFitzpatrickSkinTypeNotSet"), ("CardioFitnessMedicationsUse", "None"),
        ]
        text.append("\"/>\n <Me")
        for (name, value) in me { text.append(" HKCharacteristicTypeIdentifier\(name)=\"\(value)\"") }
        text.append("/>\n")
    }

    private func height(_ text: inout ExportText) {
        guard let first = life.plans.first else { return }
        let writer = RecordWriter(.height, system: options.unitSystem, address: address, until: until)
        writer.write(first.wake + 7200, first.wake + 7200, stored: first.wake + 7201, 1.78, &text)
    }

    /// Writes blood pressure entered by hand: both values at top level, then the correlations that repeat them.
    private func readings(_ text: inout ExportText, _ result: inout ExportGenerator.Result) {
        let mercury = ["Systolic": (118.0, 7.0), "Diastolic": (76.0, 5.0)]
        let writers = ["Systolic", "Diastolic"].map { name in
            let stream = RecordStream(
                type: "HKQuantityTypeIdentifierBloodPressure" + name, source: .byHand, unit: .plain("mmHg"), perDay: 0,
                shape: .bodyMass, metadata: [("HKWasUserEntered", "1")])
            return (
                RecordWriter(stream, system: options.unitSystem, address: address, until: until),
                RecordWriter(stream, system: options.unitSystem, address: address, until: until, indent: "  "),
                mercury[name] ?? (0, 0)
            )
        }
        for subject in 0..<2 {
            eachReading { plan, moment, random in
                let values = writers.map { random.normal($0.2.0, $0.2.1).rounded() }
                writers[subject].0.write(moment, moment, stored: moment + 1, values[subject], &text)
                text.flushIfLarge()
            }
        }
        let source = RecordSource.byHand.attributes(address: address)
        eachReading { plan, moment, random in
            let values = writers.map { random.normal($0.2.0, $0.2.1).rounded() }
            text.append(" <Correlation type=\"HKCorrelationTypeIdentifierBloodPressure\"\(source) creationDate=\"")
            text.append(date: moment + 1)
            text.append("\" startDate=\"")
            text.append(date: moment)
            text.append("\" endDate=\"")
            text.append(date: moment)
            text.append("\">\n  <MetadataEntry key=\"HKWasUserEntered\" value=\"1\"/>\n")
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
