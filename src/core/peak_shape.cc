#include "core/peak_shape.h"

#include <algorithm>
#include <cmath>

namespace berth {
namespace {

using Form = PeakFactor::Form;

/// Products of more numbers than these would be too many to try: the numbers that go best with the
/// peaks are tried.
constexpr std::size_t kMostPlaces = 5;

std::vector<double> distinct_values(std::span<const PeakRun> runs, std::size_t place) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const PeakRun& run : runs) {
    values.push_back(run.numbers[place]);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// The square of the correlation between a number and the peaks, in orders of magnitude.
double agreement(std::span<const PeakRun> runs, std::size_t place) {
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (const PeakRun& run : runs) {
    const double a = std::log1p(run.numbers[place]);
    const double b = std::log(run.peak);
    x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
  }
  const auto n = static_cast<double>(runs.size());
  const double spread = (xx - x * x / n) * (yy - y * y / n);
  const double common = xy - x * y / n;
  return spread > 0 ? common * common / spread : 0;
}

struct Place {
  std::uint32_t index;
  std::vector<double> values;  // ascending
  double agreement;

  PeakFactor as(Form form, double bend = 0) const { return {index, form, bend}; }
};

std::vector<Place> places_to_try(std::span<const PeakRun> runs) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < runs[0].numbers.size(); ++i) {
    std::vector<double> values = distinct_values(runs, i);
    if (values.size() > 1) {
      places.push_back({static_cast<std::uint32_t>(i), std::move(values), agreement(runs, i)});
    }
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.agreement > b.agreement; });
  places.resize(std::min(places.size(), kMostPlaces));
  return places;
}

void add_shapes_of_one(const Place& place, std::vector<PeakShape>& shapes) {
  shapes.push_back({{place.as(Form::Number)}});
  if (place.values.front() > 0) {
    shapes.push_back({{place.as(Form::Inverse)}});
  }
  if (place.values.size() < 3) {
    return;  // two values are on a line, whatever the shape
  }
  shapes.push_back({{place.as(Form::Number), place.as(Form::Number)}});
  shapes.push_back({{place.as(Form::Root)}});
  for (const std::size_t quarter : {1, 2, 3}) {
    shapes.push_back({{place.as(Form::Beyond, place.values[place.values.size() * quarter / 4])}});
  }
}

void add_products(std::span<const Place> places, std::vector<PeakShape>& shapes) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const PeakFactor one = places[i].as(Form::Number);
    for (std::size_t j = 0; j < places.size(); ++j) {
      const PeakFactor other = places[j].as(Form::Number);
      if (i == j) {
        continue;
      }
      shapes.push_back({{one, one, other}});
      if (places[i].values.front() > 0) {
        shapes.push_back({{places[i].as(Form::Inverse), other}});
      }
      if (i > j) {
        continue;
      }
      shapes.push_back({{one, other}});
      for (std::size_t k = j + 1; k < places.size(); ++k) {
        shapes.push_back({{one, other, places[k].as(Form::Number)}});
      }
    }
  }
}

}  // namespace

double PeakShape::at(std::span<const double> numbers) const {
  double product = 1;
  for (const PeakFactor& factor : factors) {
    const double number = numbers[factor.place];
    switch (factor.form) {
      case Form::Number:
        product *= number;
        break;
      case Form::Root:
        product *= std::sqrt(number);
        break;
      case Form::Inverse:
        product /= number;
        break;
      case Form::Beyond:
        product *= std::max(0.0, number - factor.bend);
        break;
    }
  }
  return product;
}

std::vector<PeakShape> possible_shapes(std::span<const PeakRun> runs, ShapeChoice choice) {
  std::vector<PeakShape> shapes;
  const std::vector<Place> places = places_to_try(runs);
  for (const Place& place : places) {
    add_shapes_of_one(place, shapes);
  }
  if (choice == ShapeChoice::Products) {
    add_products(places, shapes);
  }
  return shapes;
}

}  // namespace berth
